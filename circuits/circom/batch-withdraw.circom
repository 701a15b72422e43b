pragma circom 2.1.6;

include "bits.circom";
include "burn-address.circom";
include "merkle.circom";
include "poseidon.circom";

// The places of used slots are counted once each: used slots stand in front, and each index is above the one before.
// `passed` is one above the last used index, or `start` if no slot is used.
template Increasing(slots, bits) {
    signal input used[slots];
    signal input index[slots]; // proven below 2^bits by whoever provides them
    signal input start; // the lowest index that may be used
    signal output passed;

    Prefix(slots)(used);
    signal gap[slots]; // leaves skipped before a used one
    signal lowest[slots + 1]; // the lowest index that is still allowed
    lowest[0] <== start;
    for (var i = 0; i < slots; i++) {
        gap[i] <== used[i] * (index[i] - lowest[i]);
        Below(bits)(gap[i]); // an index below the lowest would wrap around the field
        lowest[i + 1] <== lowest[i] + gap[i] + used[i];
    }
    passed <== lowest[slots];
}

// "I know distinct transfers to burn addresses of this recipient. They are leaves under `root`, none before index
// `start` and all before index `end`, and their values add up to `withdrawValue`." Their number, senders, places,
// addresses and secrets stay private. `end` may lie above the last used leaf, so that it does not name that leaf.
//
// Full paths for all leaves would cost three times as much. The leaves lie in a few windows instead, aligned subtrees of
// 2^low leaves: each window is proven once, and a leaf only within its window.
template BatchWithdraw(depth, low, powBits, slots, windows) {
    signal input root;
    signal input recipient;
    signal input withdrawValue;
    signal input start;
    signal input end;

    signal input window[windows]; // the number of each window; an unused one repeats another
    signal input windowRoot[windows];
    signal input windowSiblings[windows][depth - low];

    signal input used[slots];
    signal input value[slots];
    signal input secret[slots]; // an unused slot repeats another one's: it must pass the proof of work too
    signal input from[slots];
    signal input place[slots]; // of the leaf within its window
    signal input inWindow[slots][windows]; // a single 1, at the leaf's window
    signal input siblings[slots][low];

    // The token bounds every transfer by 2^248, so the sum of 32 stays below the prime and cannot wrap around.
    assert(slots <= 32);

    signal windowPosition[windows][depth - low];
    signal windowProven[windows];
    for (var j = 0; j < windows; j++) {
        windowPosition[j] <== Bits(depth - low)(window[j]);
        windowProven[j] <== MerkleRoot(depth - low)(windowRoot[j], windowPosition[j], windowSiblings[j]);
        windowProven[j] === root;
    }

    signal burnAddress[slots];
    signal leaf[slots];
    signal position[slots][low];
    signal proven[slots];
    signal rootIfIn[slots][windows];
    signal numberIfIn[slots][windows];
    signal index[slots];
    signal counted[slots];
    var sum = 0;
    for (var i = 0; i < slots; i++) {
        // `from` and `value` need no bounds: the leaf is in the tree, so they are what the token recorded.
        burnAddress[i] <== BurnAddress(powBits)(recipient, secret[i]);
        leaf[i] <== Leaf()(from[i], burnAddress[i], value[i]);
        position[i] <== Bits(low)(place[i]);
        proven[i] <== MerkleRoot(low)(leaf[i], position[i], siblings[i]);

        var ones = 0;
        var itsRoot = 0;
        var itsNumber = 0;
        for (var j = 0; j < windows; j++) {
            inWindow[i][j] * (inWindow[i][j] - 1) === 0;
            ones += inWindow[i][j];
            rootIfIn[i][j] <== inWindow[i][j] * windowRoot[j];
            numberIfIn[i][j] <== inWindow[i][j] * window[j];
            itsRoot += rootIfIn[i][j];
            itsNumber += numberIfIn[i][j];
        }
        ones === 1;
        used[i] * (proven[i] - itsRoot) === 0;

        index[i] <== itsNumber * 2 ** low + place[i];
        counted[i] <== used[i] * value[i];
        sum += counted[i];
    }
    sum === withdrawValue;

    signal passed <== Increasing(slots, depth)(used, index, start);
    Below(depth + 1)(end - passed);
}
