pragma circom 2.1.6;

include "bits.circom";
include "burn-address.circom";
include "merkle.circom";
include "poseidon.circom";

// "I know a transfer of `value` to a burn address of this recipient, it is a leaf under `root`, and `withdrawValue` is
// its value less `delta`." Who sent it, when, to which address and under which secret stays private.
template Withdraw(depth, powBits) {
    signal input root;
    signal input recipient;
    signal input withdrawValue;

    signal input value;
    signal input delta;
    signal input secret;
    signal input from;
    signal input leafIndex;
    signal input siblings[depth];

    // Without the bounds a "negative" delta would let more be minted than was burned.
    Below(248)(value);
    Below(248)(delta);
    Below(248)(withdrawValue);
    withdrawValue === value - delta;

    // `from` needs no bound: the leaf is in the tree, so it is the hash of the sender that the token recorded.
    signal burnAddress <== BurnAddress(powBits)(recipient, secret);
    signal leaf <== Leaf()(from, burnAddress, value);
    signal position[depth] <== Bits(depth)(leafIndex);
    signal proven <== MerkleRoot(depth)(leaf, position, siblings);
    proven === root;
}
