// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title The curve of the proofs, by the precompiles of EIP-196 and EIP-197
library Bn254 {
    /// @notice Order of the groups: what scalars, signals and hashes are reduced by.
    uint256 internal constant GROUP_ORDER =
        21888242871839275222246405745257275088548364400416034343698204186575808495617;

    /// @notice Order of the field that coordinates live in.
    uint256 internal constant FIELD_ORDER =
        21888242871839275222246405745257275088696311157297823662689037894645226208583;

    address private constant ADD = address(6);
    address private constant MULTIPLY = address(7);
    address private constant PAIRING = address(8);

    /// @notice Only a call that ran out of gas, or a point that is none, gets here.
    error PrecompileFailed();

    /// @dev Points are 64 bytes. Reverts when one is not on the curve.
    function add(bytes memory left, bytes memory right) internal view returns (bytes memory) {
        return _call(ADD, bytes.concat(left, right));
    }

    /// @dev Reverts when the point is not on the curve.
    function multiply(uint256 x, uint256 y, uint256 scalar) internal view returns (bytes memory) {
        return _call(MULTIPLY, abi.encodePacked(x, y, scalar));
    }

    /// @notice Whether the product of the pairings of these points is one; false when one of them is no point.
    /// @param points Six words for each pair: G1, then G2 with imaginary limbs first.
    function pairingIsOne(bytes memory points) internal view returns (bool) {
        (bool ok, bytes memory answer) = PAIRING.staticcall(points);
        return ok && abi.decode(answer, (bool));
    }

    function _call(address precompile, bytes memory input) private view returns (bytes memory) {
        (bool ok, bytes memory output) = precompile.staticcall(input);
        if (!ok) revert PrecompileFailed();
        return output;
    }
}
