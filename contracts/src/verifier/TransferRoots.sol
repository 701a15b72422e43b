// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {IRootVerifier} from "../interfaces/IGroth16.sol";
import {IToken} from "../interfaces/IToken.sol";
import {ITransferRoots} from "../interfaces/ITransferRoots.sol";
import {Bn254} from "../libraries/Bn254.sol";
import {HashChain} from "../libraries/HashChain.sol";

/// @title Keeper of a token's reserved hash chains and proved roots
abstract contract TransferRoots is ITransferRoots, Ownable2Step, Pausable {
    /// @notice Root of an empty Merkle tree of height 40: Poseidon nodes over BN254, empty leaf zero.
    uint256 public constant INITIAL_TRANSFER_ROOT =
        8687547638004116013653730449839507042090717944911454416140763808366589487233;

    /// @dev Chains passed on the way to a checkpoint are kept at these leaf counts, so that later proofs find a
    /// checkpoint nearby. As large as the largest subtree in use: no subtree reaches across.
    uint64 private constant CHECKPOINT_SPACING = 64;

    uint16 private constant LARGEST_BATCH = 1 << 15;

    mapping(uint64 index => uint256) public override reservedHashChains;
    mapping(uint64 index => uint256) public override provedTransferRoots;
    mapping(uint64 index => uint256) public override provedHashChains;
    mapping(address prover => bool) public override isAllowedProver;
    mapping(uint16 batch => address) public override rootVerifiers;
    uint64 public override latestReservedIndex;
    uint64 public override latestProvedIndex;

    constructor() {
        provedTransferRoots[0] = INITIAL_TRANSFER_ROOT;
    }

    /// @inheritdoc ITransferRoots
    function reserveHashChain() external override returns (uint64 index, uint256 hashChain) {
        index = _tokenIndex();
        hashChain = _token().hashChain();
        _reserve(index, hashChain);
        latestReservedIndex = index;
    }

    /// @inheritdoc ITransferRoots
    function reserveEarlierHashChain(uint64 index, uint256 hashChain, Transfer[] calldata transfers)
        external
        override
    {
        uint256 chain = hashChain;
        for (uint256 i = 0; i < transfers.length; ++i) {
            chain = HashChain.append(chain, transfers[i].from, transfers[i].to, transfers[i].value);
        }
        _requireReserved(SafeCast.toUint64(index + transfers.length), chain);
        _reserve(index, hashChain);
    }

    /// @inheritdoc ITransferRoots
    function proveTransferRoot(bytes calldata proof) external override whenNotPaused {
        if (!isAllowedProver[msg.sender]) revert UnauthorizedProver(msg.sender);
        RootProof memory claim = abi.decode(proof, (RootProof));
        uint256 newChain = _requireProof(claim);
        _requireCheckpoint(claim, newChain);

        uint64 newIndex = claim.oldIndex + claim.count;
        uint256 root = provedTransferRoots[newIndex];
        if (root != 0 && root != claim.newRoot) {
            _pause();
            emit EmergencyTriggered(newIndex, root, claim.newRoot);
            return;
        }
        provedTransferRoots[newIndex] = claim.newRoot;
        provedHashChains[newIndex] = newChain;
        if (newIndex > latestProvedIndex) latestProvedIndex = newIndex;
        emit TransferRootProved(newIndex, claim.newRoot);
    }

    /// @inheritdoc ITransferRoots
    function revokeRoot(uint64 index) external override onlyOwner whenPaused {
        uint256 root = provedTransferRoots[index];
        if (index == 0 || root == 0) revert NoRootToRevoke(index);
        delete provedTransferRoots[index];
        delete provedHashChains[index];
        // Ends at the empty root at the latest.
        uint64 latest = latestProvedIndex;
        while (provedTransferRoots[latest] == 0) --latest;
        latestProvedIndex = latest;
        emit RootRevoked(index, root);
        _forgetCopies();
    }

    /// @inheritdoc ITransferRoots
    function setRootVerifier(address verifier) external override onlyOwner {
        _setRootVerifier(verifier);
    }

    /// @inheritdoc ITransferRoots
    function removeRootVerifier(uint16 batch) external override onlyOwner {
        delete rootVerifiers[batch];
        emit RootVerifierSet(batch, address(0));
    }

    /// @inheritdoc ITransferRoots
    function setAllowedProver(address prover) external override onlyOwner {
        isAllowedProver[prover] = true;
        emit ProverAllowed(prover);
    }

    /// @inheritdoc ITransferRoots
    function removeAllowedProver(address prover) external override onlyOwner {
        isAllowedProver[prover] = false;
        emit ProverRemoved(prover);
    }

    /// @inheritdoc ITransferRoots
    function isUpToDate() external view override returns (bool) {
        return latestProvedIndex == _tokenIndex();
    }

    /// @inheritdoc ITransferRoots
    function rootDecider() external view override returns (address verifier) {
        for (uint16 batch = LARGEST_BATCH; batch != 0 && verifier == address(0); batch >>= 1) {
            verifier = rootVerifiers[batch];
        }
    }

    function _setRootVerifier(address verifier) internal {
        uint16 batch = IRootVerifier(verifier).batch();
        if (batch == 0 || batch & (batch - 1) != 0) revert IRootVerifier.InvalidBatch(batch);
        rootVerifiers[batch] = verifier;
        emit RootVerifierSet(batch, verifier);
    }

    /// @dev A root was revoked: so is everything that was made of it elsewhere.
    function _forgetCopies() internal virtual;

    function _token() internal view virtual returns (IToken);

    function _reserve(uint64 index, uint256 hashChain) private {
        if (hashChain == 0) revert ZeroHashChain(index);
        reservedHashChains[index] = hashChain;
        emit HashChainReserved(index, hashChain);
    }

    /// @dev Whether the appended transfers are the token's is not decided here, only that they lead from the old root
    /// to the new one.
    /// @return newChain The old hash chain continued by the appended transfers.
    function _requireProof(RootProof memory claim) private view returns (uint256 newChain) {
        address verifier = rootVerifiers[claim.batch];
        if (verifier == address(0)) revert UnknownBatch(claim.batch);
        if (
            claim.count == 0 || claim.count > claim.transfers.length
                || (claim.oldIndex % claim.batch) + claim.count > claim.batch
        ) revert InvalidCount(claim.oldIndex, claim.count, claim.batch);
        if (claim.newRoot == 0 || claim.newRoot >= Bn254.GROUP_ORDER) revert InvalidNewRoot(claim.newRoot);
        uint256 oldRoot = provedTransferRoots[claim.oldIndex];
        if (oldRoot == 0) revert OldRootZero(claim.oldIndex);

        uint256 oldChain = provedHashChains[claim.oldIndex];
        newChain = _walk(claim, oldChain);
        uint64 newIndex = claim.oldIndex + claim.count;
        uint256 z = uint256(
            keccak256(
                abi.encode(
                    uint256(claim.oldIndex), oldChain, oldRoot, uint256(newIndex), newChain, claim.newRoot
                )
            )
        ) % Bn254.GROUP_ORDER;
        uint256[6] memory signals = [claim.oldIndex, oldRoot, newIndex, claim.newRoot, z, _evaluate(claim, z)];
        uint256[8] memory p = claim.proof;
        if (
            !IRootVerifier(verifier)
                .verifyProof([p[0], p[1]], [[p[2], p[3]], [p[4], p[5]]], [p[6], p[7]], signals)
        ) revert InvalidProof();
    }

    /// @dev Requires that all transfers together lead to a reserved chain, and keeps chains on the way. By the
    /// collision resistance of SHA-256 they are then the token's, the appended ones included.
    function _requireCheckpoint(RootProof memory claim, uint256 newChain) private {
        uint256 chain = newChain;
        for (uint256 i = claim.count; i < claim.transfers.length; ++i) {
            uint64 index = SafeCast.toUint64(claim.oldIndex + i);
            if (index % CHECKPOINT_SPACING == 0 && i != claim.count && reservedHashChains[index] == 0) {
                _reserve(index, chain);
            }
            chain = _append(chain, claim.transfers[i]);
        }
        _requireReserved(SafeCast.toUint64(claim.oldIndex + claim.transfers.length), chain);
    }

    function _requireReserved(uint64 index, uint256 chain) private view {
        uint256 reserved = reservedHashChains[index];
        if (reserved == 0) revert ReserveHashChainNotFound(index);
        if (reserved != chain) revert NewHashChainMismatch(index, reserved, chain);
    }

    function _walk(RootProof memory claim, uint256 chain) private pure returns (uint256) {
        for (uint256 i = 0; i < claim.count; ++i) {
            chain = _append(chain, claim.transfers[i]);
        }
        return chain;
    }

    function _append(uint256 chain, Transfer memory transfer) private pure returns (uint256) {
        return HashChain.append(chain, transfer.from, transfer.to, transfer.value);
    }

    /// @dev Horner's rule over from, to and value of each appended transfer. The range check is for the reader: a
    /// value and the value plus the field's order evaluate alike, but only one of them is on the token's chain.
    function _evaluate(RootProof memory claim, uint256 z) private pure returns (uint256 y) {
        for (uint256 i = 0; i < claim.count; ++i) {
            Transfer memory transfer = claim.transfers[i];
            if (transfer.value > type(uint248).max) revert TransferValueTooLarge(transfer.value);
            y = addmod(mulmod(y, z, Bn254.GROUP_ORDER), uint160(transfer.from), Bn254.GROUP_ORDER);
            y = addmod(mulmod(y, z, Bn254.GROUP_ORDER), uint160(transfer.to), Bn254.GROUP_ORDER);
            y = addmod(mulmod(y, z, Bn254.GROUP_ORDER), transfer.value, Bn254.GROUP_ORDER);
        }
    }

    function _tokenIndex() private view returns (uint64) {
        return SafeCast.toUint64(_token().index());
    }
}
