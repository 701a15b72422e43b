// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title The part of a zERC20 verifier that needs no proof
/// @notice Proving transfer roots and the proof-gated mint are not here yet: nothing writes `provedTransferRoots`
/// above index zero, and nothing is ever minted. What is here already has its final meaning.
interface IVerifier {
    /// @notice The token's chain was copied, so that a later proof can be checked against it.
    event HashChainReserved(uint64 indexed index, uint256 hashChain);

    event ActivateEmergency();
    event DeactivateEmergency();

    /// @notice The token has no leaf yet.
    error ZeroHashChain(uint64 index);
    error ZeroToken();

    /// @notice Token whose leaves are proved here.
    function token() external view returns (address);

    /// @notice The token's hash chain at a leaf count; zero when it was not reserved there.
    function reservedHashChains(uint64 index) external view returns (uint256);

    /// @notice Proved Merkle root over the first `index` leaves; zero when there is none.
    function provedTransferRoots(uint64 index) external view returns (uint256);

    function latestReservedIndex() external view returns (uint64);

    function latestProvedIndex() external view returns (uint64);

    /// @notice What was minted so far for a recipient hash (chain, recipient, tweak).
    function totalTeleported(uint256 recipientHash) external view returns (uint256);

    /// @notice Whether every leaf of the token is under a proved root.
    function isUpToDate() external view returns (bool);

    /// @notice Copies the token's leaf count and hash chain. Open to anyone, at any time, also while paused.
    function reserveHashChain() external returns (uint64 index, uint256 hashChain);

    /// @notice Owner only: pauses what proofs will do. Transfers and `reserveHashChain` go on.
    function activateEmergency() external;

    /// @notice Owner only.
    function deactivateEmergency() external;
}
