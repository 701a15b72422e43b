// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IGroth16} from "../interfaces/IGroth16.sol";
import {Bn254} from "../libraries/Bn254.sol";

/// @title What all Groth16 verifiers share: the key without its signal points, its checks, and the pairing
/// @dev The key lives in immutables, so verifying reads no storage and nothing is compiled at deployment.
abstract contract Groth16 is IGroth16 {
    bytes32 public immutable override verificationKeyHash;

    uint256 private immutable _alphaX;
    uint256 private immutable _alphaY;
    uint256 private immutable _betaXImaginary;
    uint256 private immutable _betaXReal;
    uint256 private immutable _betaYImaginary;
    uint256 private immutable _betaYReal;
    uint256 private immutable _gammaXImaginary;
    uint256 private immutable _gammaXReal;
    uint256 private immutable _gammaYImaginary;
    uint256 private immutable _gammaYReal;
    uint256 private immutable _deltaXImaginary;
    uint256 private immutable _deltaXReal;
    uint256 private immutable _deltaYImaginary;
    uint256 private immutable _deltaYReal;

    constructor(VerificationKey memory key, uint256 signals) {
        if (key.ic.length != signals + 1) revert WrongKeyLength(signals + 1, key.ic.length);
        // Equal abscissas mean equal or opposite points, and either lets anyone cancel the signals out of the pairing.
        if (key.delta.xImaginary == key.gamma.xImaginary && key.delta.xReal == key.gamma.xReal) {
            revert UnfinishedKey();
        }
        _requireG1(key.alpha);
        _requireG2(key.beta);
        _requireG2(key.gamma);
        _requireG2(key.delta);
        bytes memory words = abi.encode(key.alpha, key.beta, key.gamma, key.delta);
        for (uint256 i = 0; i < key.ic.length; ++i) {
            _requireG1(key.ic[i]);
            words = bytes.concat(words, abi.encode(key.ic[i]));
        }
        verificationKeyHash = keccak256(words);

        _alphaX = key.alpha.x;
        _alphaY = key.alpha.y;
        _betaXImaginary = key.beta.xImaginary;
        _betaXReal = key.beta.xReal;
        _betaYImaginary = key.beta.yImaginary;
        _betaYReal = key.beta.yReal;
        _gammaXImaginary = key.gamma.xImaginary;
        _gammaXReal = key.gamma.xReal;
        _gammaYImaginary = key.gamma.yImaginary;
        _gammaYReal = key.gamma.yReal;
        _deltaXImaginary = key.delta.xImaginary;
        _deltaXReal = key.delta.xReal;
        _deltaYImaginary = key.delta.yImaginary;
        _deltaYReal = key.delta.yReal;
    }

    /// @dev e(-A, B) · e(alpha, beta) · e(input, gamma) · e(C, delta) = 1, with the signals' points summed to `input`.
    function _holds(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        bytes memory input
    ) internal view returns (bool) {
        if (a[1] >= Bn254.FIELD_ORDER) return false;
        // The neutral element is (0, 0) and its own negative.
        uint256 minusAY = a[1] == 0 ? 0 : Bn254.FIELD_ORDER - a[1];
        return Bn254.pairingIsOne(
            bytes.concat(
                abi.encodePacked(a[0], minusAY, b[0][0], b[0][1], b[1][0], b[1][1]),
                _alphaBeta(),
                input,
                abi.encodePacked(_gammaXImaginary, _gammaXReal, _gammaYImaginary, _gammaYReal),
                abi.encodePacked(c[0], c[1], _deltaXImaginary, _deltaXReal, _deltaYImaginary, _deltaYReal)
            )
        );
    }

    /// @dev Adds a signal's point, scaled by the signal, to the sum so far.
    function _plus(bytes memory sum, uint256 x, uint256 y, uint256 signal) internal view returns (bytes memory) {
        return Bn254.add(sum, Bn254.multiply(x, y, signal));
    }

    function _alphaBeta() private view returns (bytes memory) {
        return abi.encodePacked(_alphaX, _alphaY, _betaXImaginary, _betaXReal, _betaYImaginary, _betaYReal);
    }

    function _requireG1(G1 memory point) private view {
        if (point.x == 0 && point.y == 0) revert InvalidKeyPoint();
        _requirePair(abi.encode(point, G2(0, 0, 0, 0)));
    }

    function _requireG2(G2 memory point) private view {
        if (point.xImaginary == 0 && point.xReal == 0 && point.yImaginary == 0 && point.yReal == 0) {
            revert InvalidKeyPoint();
        }
        _requirePair(abi.encode(G1(0, 0), point));
    }

    /// @dev With the neutral element on one side the product is always one, so only a bad point can fail.
    function _requirePair(bytes memory points) private view {
        if (!Bn254.pairingIsOne(points)) revert InvalidKeyPoint();
    }
}
