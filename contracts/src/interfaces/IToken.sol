// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title What a zERC20-compatible token adds to ERC-20 and ERC-2612
/// @notice Every balance change appends one leaf to an append-only list; a transfer of nothing appends none. The token
/// keeps only the leaf count and a SHA-256 chain over the list; a proof later shows that a Merkle root is the root of
/// exactly this list.
interface IToken {
    /// @notice A leaf was appended. Emitted right after the `Transfer` of the same balance change.
    /// @param index Position of the leaf, counted from zero.
    event IndexedTransfer(uint256 indexed index, address from, address to, uint256 value);

    /// @notice A proof-gated mint happened.
    event Teleport(address indexed to, uint256 value);

    event VerifierUpdated(address indexed verifier);
    event MinterUpdated(address indexed minter);

    error OnlyVerifier();
    error OnlyMinter();
    error ZeroAddress();

    /// @notice The present verifier counts what was minted, and the new one does not go on from its counts.
    error WrongPredecessor(address expected, address actual);

    /// @notice The verifier proves the leaves of another token: burns of that one would be minted here.
    error VerifierOfAnotherToken(address verifier);

    /// @notice The value needs more than 248 bits, so a proof could not carry it.
    error ValueTooLarge();

    /// @notice SHA-256 chain over all leaves, 248 bits, zero while there is no leaf.
    function hashChain() external view returns (uint256);

    /// @notice Number of leaves so far, which is the index of the next one.
    function index() external view returns (uint256);

    /// @notice The only account that may call `teleport`.
    function verifier() external view returns (address);

    /// @notice The only account that may call `mint` and `burn`; zero when there is none.
    function minter() external view returns (address);

    /// @notice Sum of everything ever minted by `teleport`.
    function totalTeleported() external view returns (uint256);

    /// @notice Owner only. The verifier cannot be zero, and once it is a contract its successor must name it as its
    /// `predecessor`.
    /// @dev Verifiers count what was minted for whom, and this token does not: a verifier that does not know what the
    /// ones before it minted lets all of it be minted again. So of two successors of one verifier only the first that
    /// is set ever mints, and an earlier verifier never comes back.
    function setVerifier(address newVerifier) external;

    /// @notice Owner only; zero switches minting and burning off.
    function setMinter(address newMinter) external;

    /// @notice Minter only.
    function mint(address to, uint256 value) external;

    /// @notice Minter only: removes value from supply. Unrelated to a burn payment, which is an ordinary transfer
    /// to a one-time address.
    function burn(address from, uint256 value) external;

    /// @notice Verifier only: mints what a proof showed to be unclaimed.
    function teleport(address to, uint256 value) external;
}
