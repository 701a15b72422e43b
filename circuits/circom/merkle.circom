pragma circom 2.1.6;

include "poseidon.circom";

// The root above a node, given the digits of its position and the siblings on its way up, lowest first.
// The digits must be proven binary by whoever provides them.
template MerkleRoot(depth) {
    signal input node;
    signal input position[depth];
    signal input siblings[depth];
    signal output root;

    signal left[depth];
    signal above[depth + 1];
    above[0] <== node;
    for (var i = 0; i < depth; i++) {
        // Digit 1: the node is a right child, its sibling stands left.
        left[i] <== above[i] + position[i] * (siblings[i] - above[i]);
        above[i + 1] <== Node()(left[i], above[i] + siblings[i] - left[i]);
    }
    root <== above[depth];
}

// All nodes of a full tree of 2^height leaves: node 1 is the root, the children of node i are 2i and 2i + 1, leaf j is
// node 2^height + j. Index 0 is no node and zero.
template Subtree(height) {
    var width = 2 ** height;
    signal input leaves[width];
    signal output nodes[2 * width];

    nodes[0] <== 0;
    for (var j = 0; j < width; j++) {
        nodes[width + j] <== leaves[j];
    }
    for (var i = width - 1; i >= 1; i--) {
        nodes[i] <== Node()(nodes[2 * i], nodes[2 * i + 1]);
    }
}
