pragma circom 2.1.6;

include "bits.circom";
include "merkle.circom";
include "poseidon.circom";

// The root that the subtree had when it held only its first leaves: `kept[j]` is 1 for each of them, a prefix. The last
// place has no flag: it was empty, or there would be nothing to append.
//
// Hashing the old leaves anew would double the work. But the old tree is the new one left of the first empty place and
// empty right of it, so in each level one node alone is neither: the one above that place. It is hashed from the one
// below and its sibling, which is a node of the new tree if it stands left and an empty one if it stands right.
template EarlierRoot(height) {
    var width = 2 ** height;
    signal input kept[width - 1];
    signal input nodes[2 * width];
    signal output root;

    var empty[41] = emptyRoots();
    signal picked[width - 1];
    signal left[height];
    signal right[height];
    signal straddling[height + 1];
    straddling[0] <== 0; // the first empty place itself
    for (var level = 0; level < height; level++) {
        var span = 2 ** level; // leaves below a node of this level
        var parents = width / span / 2;
        var leftSibling = 0;
        var isRight = 0;
        for (var p = 0; p < parents; p++) {
            // The first empty place is in a range if all before the range is kept and its last place is not.
            var before = p == 0 ? 1 : kept[2 * p * span - 1];
            var middle = kept[(2 * p + 1) * span - 1];
            var after = p == parents - 1 ? 0 : kept[(2 * p + 2) * span - 1];
            picked[parents - 1 + p] <== (before - after) * nodes[2 * (parents + p)];
            leftSibling += picked[parents - 1 + p];
            isRight += middle - after;
        }
        left[level] <== straddling[level] + isRight * (leftSibling - straddling[level]);
        right[level] <== empty[level] + isRight * (straddling[level] - empty[level]);
        straddling[level + 1] <== Node()(left[level], right[level]);
    }
    root <== straddling[height];
}

// "Appending the leaves of these transfers, and nothing else, takes the tree of `oldIndex` leaves under `oldRoot` to
// the tree of `newIndex` leaves under `newRoot`." The transfers are not public signals, their polynomial is: `y` is its
// value at `z`, which the contract derives after `newRoot` was fixed. All of them lie in one aligned subtree of
// 2^height leaves, number `segment`.
template Root(depth, height) {
    var width = 2 ** height;
    signal input oldIndex;
    signal input oldRoot;
    signal input newIndex;
    signal input newRoot;
    signal input z;
    signal input y;

    signal input from[width];
    signal input to[width];
    signal input value[width];
    signal input leaf[width - 1]; // the leaves that were there before, then zeros
    signal input kept[width - 1]; // 1 where an old leaf stands; never in the last place
    signal input filled[width]; // 1 where a leaf stands afterwards
    signal input segment;
    signal input siblings[depth - height];

    Prefix(width - 1)(kept);
    Prefix(width)(filled);

    signal added[width];
    signal hash[width];
    signal leaves[width];
    signal withFrom[width];
    signal withTo[width];
    signal withValue[width];
    signal evaluated[width + 1];
    evaluated[0] <== 0;
    var keptCount = 0;
    var filledCount = 0;
    for (var i = 0; i < width; i++) {
        var isKept = i < width - 1 ? kept[i] : 0;
        keptCount += isKept;
        filledCount += filled[i];
        isKept * (1 - filled[i]) === 0; // no leaf goes away
        added[i] <== filled[i] - isKept;

        // Each place holds its old leaf, a new one, or nothing.
        var oldLeaf = i < width - 1 ? leaf[i] : 0;
        oldLeaf * (1 - isKept) === 0;
        hash[i] <== Leaf()(from[i], to[i], value[i]);
        leaves[i] <== oldLeaf + added[i] * hash[i];

        // Horner's rule over the added transfers; the others leave the value as it is.
        withFrom[i] <== evaluated[i] * z + from[i];
        withTo[i] <== withFrom[i] * z + to[i];
        withValue[i] <== withTo[i] * z + value[i];
        evaluated[i + 1] <== evaluated[i] + added[i] * (withValue[i] - evaluated[i]);
    }
    evaluated[width] === y;

    // `segment` is below 2^(depth - height), so an index stands for one place and no other.
    signal position[depth - height] <== Bits(depth - height)(segment);
    oldIndex === segment * width + keptCount;
    newIndex === segment * width + filledCount;

    // The same siblings for both roots: the rest of the tree stays as it is.
    signal nodes[2 * width] <== Subtree(height)(leaves);
    signal earlier <== EarlierRoot(height)(kept, nodes);
    signal before <== MerkleRoot(depth - height)(earlier, position, siblings);
    signal now <== MerkleRoot(depth - height)(nodes[1], position, siblings);
    before === oldRoot;
    now === newRoot;
}
