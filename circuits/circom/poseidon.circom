pragma circom 2.1.6;

// Round constants and matrices; written at build time from the published parameters, see src/compiler/parameters.ts.
include "parameters.circom";

// Poseidon over 2 or 3 inputs, 8 full and 57 or 56 partial rounds, first state element out.
//
// Shaped for few constraints without the compiler's help. An S-box takes three products: x^2, x^4 and x^5. The
// third is not given a wire of its own for the first state element: the wire is the first element of the *next*
// state, which the same product determines, and x^5 is a linear form of it. So a partial round adds three wires and
// the other elements stay linear forms in them. Those forms grow by one term a round; they stand alone on the
// right-hand side of constraints, where they cost a prover nothing, until the last full rounds need them as factors.
template Poseidon(inputs) {
    signal input in[inputs];
    signal output out;

    var width = inputs + 1;
    var fullRounds = 8;
    var partialRounds = inputs == 2 ? 57 : 56;
    var rounds = fullRounds + partialRounds;
    var constants[256] = poseidonConstants(width);
    var matrix[4][4] = poseidonMatrix(width);
    var firstInverse = 1 / matrix[0][0];

    // Of the first element, from round 1 on: in round 0 it is a constant, and so is its S-box.
    signal firstSquare[rounds - 1];
    signal firstFourth[rounds - 1];
    signal firstNext[rounds - 1];
    // Of the other elements, in full rounds.
    signal square[fullRounds][inputs];
    signal fourth[fullRounds][inputs];
    signal fifth[fullRounds][inputs];
    signal carried[inputs];

    var state[4] = [0, 0, 0, 0];
    for (var i = 0; i < inputs; i++) {
        state[i + 1] = in[i];
    }
    for (var i = 0; i < width; i++) {
        state[i] += constants[i];
    }

    for (var round = 0; round < rounds; round++) {
        if (round == rounds - 4) {
            // Cut the long forms once, here where they would become factors.
            for (var i = 0; i < inputs; i++) {
                carried[i] <== state[i + 1];
                state[i + 1] = carried[i];
            }
        }

        var boxed[4] = state;
        if (round < 4 || round >= rounds - 4) {
            var row = round < 4 ? round : round - partialRounds;
            for (var i = 0; i < inputs; i++) {
                square[row][i] <== state[i + 1] * state[i + 1];
                fourth[row][i] <== square[row][i] * square[row][i];
                fifth[row][i] <== fourth[row][i] * state[i + 1];
                boxed[i + 1] = fifth[row][i];
            }
        }

        // What the next first element gets beside the product of this round: the other elements and its constant.
        var beside = 0;
        for (var j = 1; j < width; j++) {
            beside += matrix[0][j] * boxed[j];
        }
        if (round < rounds - 1) {
            beside += constants[(round + 1) * width];
        }
        var nextFirst = 0;
        if (round == 0) {
            boxed[0] = state[0] ** 5;
            nextFirst = matrix[0][0] * boxed[0] + beside;
        } else {
            firstSquare[round - 1] <== state[0] * state[0];
            firstFourth[round - 1] <== firstSquare[round - 1] * firstSquare[round - 1];
            firstNext[round - 1] <== matrix[0][0] * firstFourth[round - 1] * state[0] + beside;
            boxed[0] = (firstNext[round - 1] - beside) * firstInverse;
            nextFirst = firstNext[round - 1];
        }

        state[0] = nextFirst;
        for (var i = 1; i < width; i++) {
            var sum = round < rounds - 1 ? constants[(round + 1) * width + i] : 0;
            for (var j = 0; j < width; j++) {
                sum += matrix[i][j] * boxed[j];
            }
            state[i] = sum;
        }
    }
    out <== state[0];
}

// A node of the transfer tree.
template Node() {
    signal input left;
    signal input right;
    signal output out <== Poseidon(2)([left, right]);
}

// A transfer as the tree holds it. Whoever opens the leaf must know all three.
template Leaf() {
    signal input from;
    signal input to;
    signal input value;
    signal output out <== Poseidon(3)([from, to, value]);
}
