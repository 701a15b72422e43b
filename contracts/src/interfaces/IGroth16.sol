// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title A verifier of Groth16 proofs over BN254 under one fixed key
/// @notice The key is given once, at deployment, and can never change: one bytecode serves any key, and a contract
/// cannot diverge from the key it was deployed with.
/// @dev Whoever ran the setup that made the key can forge proofs, unless a ceremony made it and one of its
/// contributors forgot the secret. Keys of a development setup are for networks without value.
interface IGroth16 {
    struct G1 {
        uint256 x;
        uint256 y;
    }

    /// @dev Imaginary limbs first, as the pairing precompile wants them.
    struct G2 {
        uint256 xImaginary;
        uint256 xReal;
        uint256 yImaginary;
        uint256 yReal;
    }

    /// @param ic One point for the constant and one for each public signal.
    struct VerificationKey {
        G1 alpha;
        G2 beta;
        G2 gamma;
        G2 delta;
        G1[] ic;
    }

    /// @notice The key has another number of points than there are signals, plus one.
    error WrongKeyLength(uint256 expected, uint256 actual);

    /// @notice A point of the key is not on the curve, not in the group, or the neutral element.
    error InvalidKeyPoint();

    /// @notice Delta equals gamma up to sign: nobody contributed to this key, and everyone can forge proofs under it.
    error UnfinishedKey();

    /// @notice keccak256 over all words of the key in the order alpha, beta, gamma, delta, ic.
    function verificationKeyHash() external view returns (bytes32);
}

/// @title Verifier of withdraw proofs
interface IWithdrawVerifier is IGroth16 {
    /// @param signals Transfer root, recipient hash, total value.
    /// @return Whether the proof holds; false, and no revert, for points off the curve and signals that are too large.
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        uint256[3] calldata signals
    ) external view returns (bool);
}

/// @title Verifier of withdraw proofs over many leaves
interface IBatchVerifier is IGroth16 {
    /// @param signals Transfer root, recipient hash, sum of the values, start, end.
    /// @return Whether the proof holds; false, and no revert, for points off the curve and signals that are too large.
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        uint256[5] calldata signals
    ) external view returns (bool);
}

/// @title Verifier of proofs that a transfer root follows from another
interface IRootVerifier is IGroth16 {
    error InvalidBatch(uint16 batch);

    /// @notice Leaves of the aligned subtree that one proof can fill; a power of two.
    function batch() external view returns (uint16);

    /// @param signals Old index, old root, new index, new root, evaluation point, evaluation of the transfers there.
    /// @return Whether the proof holds; false, and no revert, for points off the curve and signals that are too large.
    function verifyProof(
        uint256[2] calldata a,
        uint256[2][2] calldata b,
        uint256[2] calldata c,
        uint256[6] calldata signals
    ) external view returns (bool);
}
