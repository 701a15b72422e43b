// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IBatchVerifier} from "../interfaces/IGroth16.sol";
import {Bn254} from "../libraries/Bn254.sol";
import {Groth16} from "./Groth16.sol";

/// @title Groth16 verifier of withdraw proofs over many leaves: five signals
contract BatchVerifier is IBatchVerifier, Groth16 {
    uint256 private constant SIGNALS = 5;

    uint256 private immutable _x0;
    uint256 private immutable _y0;
    uint256 private immutable _x1;
    uint256 private immutable _y1;
    uint256 private immutable _x2;
    uint256 private immutable _y2;
    uint256 private immutable _x3;
    uint256 private immutable _y3;
    uint256 private immutable _x4;
    uint256 private immutable _y4;
    uint256 private immutable _x5;
    uint256 private immutable _y5;

    constructor(VerificationKey memory key) Groth16(key, SIGNALS) {
        (_x0, _y0) = (key.ic[0].x, key.ic[0].y);
        (_x1, _y1) = (key.ic[1].x, key.ic[1].y);
        (_x2, _y2) = (key.ic[2].x, key.ic[2].y);
        (_x3, _y3) = (key.ic[3].x, key.ic[3].y);
        (_x4, _y4) = (key.ic[4].x, key.ic[4].y);
        (_x5, _y5) = (key.ic[5].x, key.ic[5].y);
    }

    /// @inheritdoc IBatchVerifier
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        uint256[SIGNALS] calldata signals
    ) external view override returns (bool) {
        for (uint256 i = 0; i < SIGNALS; ++i) {
            if (signals[i] >= Bn254.GROUP_ORDER) return false;
        }
        bytes memory input = abi.encodePacked(_x0, _y0);
        input = _plus(input, _x1, _y1, signals[0]);
        input = _plus(input, _x2, _y2, signals[1]);
        input = _plus(input, _x3, _y3, signals[2]);
        input = _plus(input, _x4, _y4, signals[3]);
        input = _plus(input, _x5, _y5, signals[4]);
        return _holds(a, b, c, input);
    }
}
