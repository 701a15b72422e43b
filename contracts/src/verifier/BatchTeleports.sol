// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IBatchTeleports} from "../interfaces/IBatchTeleports.sol";
import {IBatchVerifier} from "../interfaces/IGroth16.sol";
import {ITransferRoots} from "../interfaces/ITransferRoots.sol";
import {Teleports} from "./Teleports.sol";

/// @title Mints of many burns by one proof
abstract contract BatchTeleports is IBatchTeleports, Teleports {
    struct Count {
        uint48 checkpoint;
        uint208 counted;
    }

    address public override batchVerifier;

    /// @dev Raised when a count could rest on something that was taken back. Shares the slot of the verifier.
    uint96 private _generation;
    mapping(uint96 generation => mapping(uint256 recipientHash => mapping(address submitter => Count))) private _counts;

    /// @inheritdoc IBatchTeleports
    function batchTeleport(
        uint64 rootHint,
        GeneralRecipient calldata gr,
        uint48 start,
        uint48 end,
        uint256 value,
        uint256[8] calldata proof
    ) external override whenNotPaused {
        Finding memory finding;
        finding.transferRoot = _rootAt(false, rootHint);
        if (finding.transferRoot == 0) revert ExpectedRootZero(rootHint);
        if (gr.chainId != block.chainid) revert InvalidRecipientChainId(uint64(block.chainid), gr.chainId);
        if (end > rootHint) revert EndAboveRoot(rootHint, end);
        if (start > end) revert StartAboveEnd(start, end);
        finding.recipientHash = recipientHashOf(gr);
        _requireBatchProof([finding.transferRoot, finding.recipientHash, value, start, end], proof);

        finding.totalValue = _count(finding.recipientHash, start, end, value);
        finding.unminted = _raiseTotal(finding.recipientHash, finding.totalValue);
        if (finding.unminted == 0) return;
        finding.to = address(uint160(uint256(gr.recipient)));
        _mint(false, rootHint, gr, finding);
    }

    /// @inheritdoc IBatchTeleports
    function batchCount(uint256 recipientHash, address submitter)
        external
        view
        override
        returns (uint48 checkpoint, uint208 counted)
    {
        Count memory count = _counts[_generation][recipientHash][submitter];
        return (count.checkpoint, count.counted);
    }

    /// @dev Counts that the last verifier let through are not trusted by whoever replaces it.
    function _setBatchVerifier(address verifier) internal {
        batchVerifier = verifier;
        _forgetCounts();
        emit BatchVerifierSet(verifier);
    }

    /// @dev Every submitter begins at zero again. What was minted stays booked.
    function _forgetCounts() internal {
        ++_generation;
    }

    /// @dev The leaves of one count are distinct: within a proof by the circuit, between proofs because each begins
    /// where the one before ended. A leaf below a checkpoint never changes, because proved roots only grow; when one is
    /// revoked, all counts are forgotten.
    function _count(uint256 recipientHash, uint48 start, uint48 end, uint256 value) private returns (uint256 counted) {
        Count storage count = _counts[_generation][recipientHash][msg.sender];
        (uint48 checkpoint, uint208 before) = (count.checkpoint, count.counted);
        if (start != 0 && start != checkpoint) revert WrongStart(checkpoint, start);
        counted = start == 0 ? value : before + value;
        if (counted > type(uint208).max) revert CountTooLarge(counted);
        (count.checkpoint, count.counted) = (end, uint208(counted));
        emit BatchCounted(recipientHash, msg.sender, start, end, counted);
    }

    function _requireBatchProof(uint256[5] memory signals, uint256[8] calldata p) private view {
        address verifier = batchVerifier;
        if (verifier == address(0)) revert BatchVerifierNotSet();
        if (
            !IBatchVerifier(verifier)
                .verifyProof([p[0], p[1]], [[p[2], p[3]], [p[4], p[5]]], [p[6], p[7]], signals)
        ) revert ITransferRoots.InvalidProof();
    }
}
