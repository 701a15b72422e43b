// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title From a token's hash chain to proved Merkle roots
/// @notice The token keeps a SHA-256 chain over its leaves, which is cheap to extend and useless in a proof. A
/// proved root is a Poseidon Merkle root over exactly those leaves. `proveTransferRoot` gets the transfers
/// themselves, recomputes the chain, and has the proof vouch only for what is dear on chain: the Poseidon tree.
interface ITransferRoots {
    /// @notice One leaf of the token, as its `IndexedTransfer` event states it.
    struct Transfer {
        address from;
        address to;
        uint256 value;
    }

    /// @notice What `proveTransferRoot` takes, ABI-encoded.
    /// @param oldIndex Leaf count of a proved root, which the proof starts from.
    /// @param count Leaves that the proof appends: the first ones of `transfers`.
    /// @param batch Which root verifier; the appended leaves lie in one aligned subtree of this many leaves.
    /// @param newRoot Root over the first `oldIndex + count` leaves.
    /// @param transfers All leaves from `oldIndex` up to a reserved hash chain; those after `count` only lead there.
    /// @param proof A.x, A.y, B.x (imaginary, real), B.y (imaginary, real), C.x, C.y.
    struct RootProof {
        uint64 oldIndex;
        uint64 count;
        uint16 batch;
        uint256 newRoot;
        Transfer[] transfers;
        uint256[8] proof;
    }

    /// @notice The token's chain at this leaf count is known, so that a later proof can be checked against it.
    event HashChainReserved(uint64 indexed index, uint256 hashChain);

    event TransferRootProved(uint64 indexed index, uint256 root);

    /// @notice Two proofs gave two roots for the same leaves, so one of them is forged. Everything proofs do is paused.
    event EmergencyTriggered(uint64 indexed index, uint256 root1, uint256 root2);

    event RootRevoked(uint64 indexed index, uint256 root);
    event RootVerifierSet(uint16 indexed batch, address verifier);
    event ProverAllowed(address indexed prover);
    event ProverRemoved(address indexed prover);

    /// @notice The token has no leaf yet, or the claimed chain is zero.
    error ZeroHashChain(uint64 index);
    error UnauthorizedProver(address prover);

    /// @notice There is no root verifier of this size.
    error UnknownBatch(uint16 batch);

    /// @notice No leaf is appended, more than are given, or some beyond the aligned subtree of `batch` leaves.
    error InvalidCount(uint64 oldIndex, uint64 count, uint16 batch);

    /// @notice The value needs more than 248 bits, which no leaf of a token has.
    error TransferValueTooLarge(uint256 value);

    /// @notice The root is zero or no field element.
    error InvalidNewRoot(uint256 root);

    /// @notice There is no proved root at this leaf count.
    error OldRootZero(uint64 index);
    error InvalidProof();

    /// @notice There is no proved root at this leaf count, or it is the empty one, which is right by definition.
    error NoRootToRevoke(uint64 index);

    /// @notice No hash chain is reserved at the leaf count that the transfers lead to.
    error ReserveHashChainNotFound(uint64 index);

    /// @notice The transfers are not the token's: they lead to another chain than the reserved one.
    error NewHashChainMismatch(uint64 index, uint256 expected, uint256 actual);

    /// @notice The token's hash chain at a leaf count; zero when it is not known there.
    function reservedHashChains(uint64 index) external view returns (uint256);

    /// @notice Proved Merkle root over the first `index` leaves; zero when there is none. Past roots stay
    /// valid unless the owner revokes them.
    function provedTransferRoots(uint64 index) external view returns (uint256);

    /// @notice The token's hash chain where a root is proved.
    function provedHashChains(uint64 index) external view returns (uint256);

    function latestReservedIndex() external view returns (uint64);

    function latestProvedIndex() external view returns (uint64);

    /// @notice Whether every leaf of the token is under a proved root.
    function isUpToDate() external view returns (bool);

    function isAllowedProver(address prover) external view returns (bool);

    /// @notice The root verifier for batches of this size; zero when there is none. Sizes are powers of two, so sixteen
    /// questions name everything that roots can be proved with.
    function rootVerifiers(uint16 batch) external view returns (address);

    /// @notice The root verifier of the largest batch; zero when there is none.
    function rootDecider() external view returns (address);

    /// @notice Copies the token's leaf count and hash chain. Open to anyone, at any time, also while paused.
    function reserveHashChain() external returns (uint64 index, uint256 hashChain);

    /// @notice Makes a hash chain from before a reserved one known, by the transfers in between. Open to anyone.
    /// @dev Nobody has to trust `hashChain`: another value that leads to the same reserved chain in as many steps
    /// would be a collision of SHA-256. So a stretch too long for one `proveTransferRoot` can be cut into pieces.
    /// @param index Leaf count that the chain belongs to.
    /// @param hashChain The token's chain there.
    /// @param transfers All leaves from `index` to a reserved hash chain.
    function reserveEarlierHashChain(uint64 index, uint256 hashChain, Transfer[] calldata transfers) external;

    /// @notice Proves the root over more leaves. Allowed provers only; not while paused.
    /// @dev The proof's evaluation point z is keccak256(abi.encode(oldIndex, oldChain, oldRoot, newIndex, newChain,
    /// newRoot)) reduced to the field, so it is not known before the new root is chosen; y is the value at z of the
    /// polynomial whose coefficients are from, to and value of each appended leaf. The circuit evaluates the leaves
    /// that it puts under the new root at the same z. Leaves that differ from the token's agree at a random point
    /// with a chance of three times the count in the size of the field.
    /// When another root stands at the same leaf count, this pauses and emits `EmergencyTriggered` instead.
    /// @param proof `abi.encode(RootProof)`.
    function proveTransferRoot(bytes calldata proof) external;

    /// @notice Owner only, only while paused: the way out of a bad root. The right one can be proved in its place
    /// afterwards; `latestProvedIndex` falls back to the highest root that is left.
    /// @dev Roots that were continued from a bad one are bad as well and have to be revoked too, the highest first: then
    /// no fallback is longer than a batch. Copies go with it: the hub's leaf of this verifier is emptied, and all
    /// aggregation roots received so far are revoked. No burn is lost by that, since every leaf under a root is under
    /// all later ones. A hub that cannot empty the leaf makes this fail: unlink it by `setHub` first.
    function revokeRoot(uint64 index) external;

    /// @notice Owner only: puts a root verifier in the place of its batch size.
    function setRootVerifier(address verifier) external;

    /// @notice Owner only: no more proofs of this batch size.
    function removeRootVerifier(uint16 batch) external;

    /// @notice Owner only.
    function setAllowedProver(address prover) external;

    /// @notice Owner only.
    function removeAllowedProver(address prover) external;
}
