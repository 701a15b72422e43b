pragma circom 2.1.6;

include "bits.circom";
include "poseidon.circom";

// The one-time address that a recipient and a secret stand for: the low 160 bits of their hash, provided that the
// `powBits` bits above are zero.
//
// hash = address + 2^(160 + powBits) * high. The field is smaller than 2^254, so the same hash could be written with
// other parts whose sum exceeds the prime. `high` is therefore kept below floor(r / 2^(160 + powBits)): then the sum
// stays below the prime, and there is one way only. The price is that the few hashes above the bound, one in about
// 2^(93 - powBits), are not accepted although they pass the proof of work; no search will meet one.
template BurnAddress(powBits) {
    signal input recipient;
    signal input secret;
    signal output address;

    var domain = 1852994914; // ASCII "burn", read little-endian: burn hashes are never leaf hashes
    var shift = 160 + powBits;
    var highEnd = -1 >> shift; // floor(r / 2^shift), since no power of two divides r
    var highBits = 254 - shift;

    signal hash <== Poseidon(3)([domain, recipient, secret]);
    address <-- hash & (2 ** 160 - 1);
    signal high <-- hash >> shift;
    hash === address + high * 2 ** shift; // no place for the bits in between: this is the proof of work
    Below(160)(address);
    Below(highBits)(high);
    Below(highBits)(highEnd - 1 - high); // together with the line above: 0 <= high < highEnd
}
