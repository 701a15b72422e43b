pragma circom 2.1.6;

// The binary digits of `in`, lowest first; at the same time the proof that `in` is below 2^n. With n below 254 the sum
// of the digits cannot wrap around the field, so there is one way only.
template Bits(n) {
    assert(n <= 253);
    signal input in;
    signal output out[n];

    var sum = 0;
    for (var i = 0; i < n; i++) {
        out[i] <-- (in >> i) & 1;
        out[i] * (out[i] - 1) === 0; // a digit is 0 or 1
        sum += out[i] * 2 ** i;
    }
    sum === in;
}

// `in` is below 2^n.
template Below(n) {
    signal input in;
    signal digits[n] <== Bits(n)(in);
}

// A run of ones, then zeros only.
template Prefix(n) {
    signal input in[n];

    for (var i = 0; i < n; i++) {
        in[i] * (in[i] - 1) === 0;
        if (i > 0) {
            in[i] * (1 - in[i - 1]) === 0; // a one stands behind a one: no gap
        }
    }
}
