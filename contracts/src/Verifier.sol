// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {IHub} from "./interfaces/IHub.sol";
import {IToken} from "./interfaces/IToken.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";
import {BatchTeleports} from "./verifier/BatchTeleports.sol";
import {Teleports} from "./verifier/Teleports.sol";
import {TransferRoots} from "./verifier/TransferRoots.sol";

/// @title Verifier of a zERC20-compatible token
contract Verifier is IVerifier, TransferRoots, BatchTeleports {
    uint8 public constant override treeHeight = 40;

    address public immutable override token;
    uint8 public immutable override powBits;

    address public override hub;
    uint64 public override latestAggSeq;
    uint64 public override latestRelayedIndex;

    /// @dev Aggregation roots below this sequence number are revoked, whether they arrived or not. It can be one more
    /// than the largest of them.
    uint128 private _revokedBelow;
    mapping(uint64 aggSeq => bool) private _isRevokedAlone;
    mapping(uint64 aggSeq => uint256) private _globalTransferRoots;

    /// @param predecessor_ The token's verifier so far; zero for a token that had none.
    constructor(address token_, uint8 powBits_, address owner_, address predecessor_)
        Ownable(owner_)
        Teleports(predecessor_)
    {
        if (token_ == address(0)) revert ZeroToken();
        // What a verifier in use has minted must not be forgotten. An account without code has counted nothing.
        address current = IToken(token_).verifier();
        if (current.code.length != 0 && current != predecessor_) revert WrongPredecessor(current, predecessor_);
        token = token_;
        powBits = powBits_;
    }

    /// @inheritdoc IVerifier
    function relayTransferRoot(bytes calldata) external override whenNotPaused {
        uint64 index = latestProvedIndex;
        if (index == 0) revert NoProvedRoot();
        if (hub == address(0)) revert HubNotSet();
        uint256 root = provedTransferRoots[index];
        latestRelayedIndex = index;
        emit TransferRootRelayed(index, root, "");
        IHub(hub).updateTransferRoot(root, index);
    }

    /// @inheritdoc IVerifier
    function saveGlobalRoot(uint256 root, uint64 aggSeq) external override whenNotPaused {
        if (msg.sender != hub) revert OnlyHub();
        if (isGlobalRootRevoked(aggSeq)) revert RevokedGlobalRoot(aggSeq);
        _globalTransferRoots[aggSeq] = root;
        if (aggSeq > latestAggSeq) latestAggSeq = aggSeq;
        emit GlobalRootSaved(aggSeq, root);
    }

    /// @inheritdoc IVerifier
    function revokeGlobalRoot(uint64 aggSeq) external override onlyOwner whenPaused {
        emit GlobalRootRevoked(aggSeq, globalTransferRoots(aggSeq));
        _isRevokedAlone[aggSeq] = true;
        delete _globalTransferRoots[aggSeq];
    }

    /// @inheritdoc IVerifier
    function setHub(address newHub) external override onlyOwner {
        hub = newHub;
        emit HubSet(newHub);
    }

    /// @inheritdoc IVerifier
    function setVerifiers(
        address rootDecider_,
        address withdrawGlobalDecider_,
        address withdrawLocalDecider_,
        address singleWithdrawGlobalVerifier_,
        address singleWithdrawLocalVerifier_
    ) external override onlyOwner {
        if (
            rootDecider_ == address(0) || singleWithdrawGlobalVerifier_ == address(0)
                || singleWithdrawLocalVerifier_ == address(0)
        ) revert ZeroAddress();
        _setRootVerifier(rootDecider_);
        withdrawGlobalDecider = withdrawGlobalDecider_;
        withdrawLocalDecider = withdrawLocalDecider_;
        singleWithdrawGlobalVerifier = singleWithdrawGlobalVerifier_;
        singleWithdrawLocalVerifier = singleWithdrawLocalVerifier_;
        emit VerifiersSet(
            rootDecider_,
            withdrawGlobalDecider_,
            withdrawLocalDecider_,
            singleWithdrawGlobalVerifier_,
            singleWithdrawLocalVerifier_
        );
    }

    /// @inheritdoc IVerifier
    function setBatchVerifier(address verifier) external override onlyOwner {
        _setBatchVerifier(verifier);
    }

    /// @inheritdoc IVerifier
    function activateEmergency() external override onlyOwner {
        _pause();
        emit ActivateEmergency();
    }

    /// @inheritdoc IVerifier
    function deactivateEmergency() external override onlyOwner {
        _unpause();
        emit DeactivateEmergency();
    }

    /// @inheritdoc IVerifier
    function globalTransferRoots(uint64 aggSeq) public view override returns (uint256) {
        return aggSeq < _revokedBelow ? 0 : _globalTransferRoots[aggSeq];
    }

    /// @inheritdoc IVerifier
    function isGlobalRootRevoked(uint64 aggSeq) public view override returns (bool) {
        return aggSeq < _revokedBelow || _isRevokedAlone[aggSeq];
    }

    /// @dev Nobody could end a pause any more.
    function renounceOwnership() public override whenNotPaused {
        super.renounceOwnership();
    }

    /// @inheritdoc IVerifier
    function quoteRelay(bytes calldata) external pure override returns (uint256, uint256) {
        return (0, 0);
    }

    function _forgetCopies() internal override {
        if (latestAggSeq >= _revokedBelow) {
            _revokedBelow = uint128(latestAggSeq) + 1;
            emit GlobalRootsRevoked(latestAggSeq);
        }
        latestRelayedIndex = 0;
        _forgetCounts();
        if (hub != address(0)) IHub(hub).clearTransferRoot();
    }

    function _token() internal view override(TransferRoots, Teleports) returns (IToken) {
        return IToken(token);
    }

    function _rootAt(bool isGlobal, uint64 rootHint) internal view override returns (uint256) {
        return isGlobal ? globalTransferRoots(rootHint) : provedTransferRoots[rootHint];
    }
}
