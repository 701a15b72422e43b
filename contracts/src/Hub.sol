// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {IHub} from "./interfaces/IHub.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";
import {Bn254} from "./libraries/Bn254.sol";
import {Poseidon} from "./libraries/Poseidon.sol";

/// @title Aggregation of the transfer roots of one chain
contract Hub is IHub, Ownable2Step {
    uint256 private constant HEIGHT = 6;

    /// @notice Leaves of the aggregation tree.
    uint256 public constant MAX_LEAVES = 1 << HEIGHT;

    TokenInfo[] public override tokenInfos;
    uint256[] public override transferRoots;
    uint64[] public override transferTreeIndices;
    uint256[HEIGHT + 1] public override zeroHash;
    mapping(uint32 eid => uint256) public override eidToPosition;
    uint256 public override aggregationRoot;
    uint64 public override aggSeq;
    bool public override isUpToDate = true;

    /// @dev Position plus one of a chain's token.
    mapping(uint64 chainId => uint256) private _positionOf;

    /// @dev The last verifier that this chain's token had here; it stays when the entry goes.
    address private _lastVerifier;

    constructor(address owner_) Ownable(owner_) {
        uint256[] memory constants = Poseidon.roundConstants();
        for (uint256 i = 0; i < HEIGHT; ++i) {
            zeroHash[i + 1] = Poseidon.hash(constants, zeroHash[i], zeroHash[i]);
        }
    }

    /// @inheritdoc IHub
    function registerToken(TokenInfo calldata info) external override onlyOwner {
        if (eidToPosition[info.eid] != 0) revert TokenAlreadyRegistered(info.eid);
        uint256 index = tokenInfos.length;
        if (index == MAX_LEAVES) revert HubCapacityReached();

        tokenInfos.push();
        transferRoots.push();
        transferTreeIndices.push();
        eidToPosition[info.eid] = index + 1;
        _place(info, index);
        emit TokenRegistered(info.eid, index, info.chainId, info.token, info.verifier);
    }

    /// @inheritdoc IHub
    function updateToken(TokenInfo calldata info) external override onlyOwner {
        uint256 index = _indexOf(info.eid);
        delete _positionOf[tokenInfos[index].chainId];
        _place(info, index);
        emit TokenUpdated(info.eid, index, info.chainId, info.token, info.verifier);
        _setRoot(index, 0, 0);
    }

    /// @inheritdoc IHub
    function updateTransferRoot(uint256 root, uint64 index) external override {
        uint256 position = _positionOf[uint64(block.chainid)];
        if (position == 0 || tokenInfos[position - 1].verifier != msg.sender) revert UnknownVerifier(msg.sender);
        if (root >= Bn254.GROUP_ORDER) revert InvalidTransferRoot(root);
        _setRoot(position - 1, root, index);
    }

    /// @inheritdoc IHub
    function clearTransferRoot() external override {
        uint256 position = _positionOf[uint64(block.chainid)];
        if (position != 0 && tokenInfos[position - 1].verifier == msg.sender) _setRoot(position - 1, 0, 0);
    }

    /// @inheritdoc IHub
    function broadcast(uint32[] calldata eids, bytes calldata) external override {
        _dropDisowned();
        if (!isUpToDate) {
            isUpToDate = true;
            aggregationRoot = _aggregate(transferRoots);
            emit AggregationRootUpdated(aggregationRoot, ++aggSeq, transferRoots, transferTreeIndices);
        }
        for (uint256 i = 0; i < eids.length; ++i) {
            TokenInfo storage info = tokenInfos[_indexOf(eids[i])];
            if (info.chainId != block.chainid) revert OtherChain(eids[i]);
            IVerifier(info.verifier).saveGlobalRoot(aggregationRoot, aggSeq);
        }
    }

    /// @inheritdoc IHub
    function getTokenInfos() external view override returns (TokenInfo[] memory) {
        return tokenInfos;
    }

    /// @inheritdoc IHub
    function getTransferRootsAndIndices()
        external
        view
        override
        returns (uint256[] memory roots, uint64[] memory indices)
    {
        return (transferRoots, transferTreeIndices);
    }

    /// @inheritdoc IHub
    function quoteBroadcast(uint32[] calldata, bytes calldata) external pure override returns (uint256) {
        return 0;
    }

    function _place(TokenInfo calldata info, uint256 index) private {
        if (info.chainId == 0) revert InvalidChainId();
        if (info.verifier == address(0)) revert ZeroVerifier();
        if (info.token == address(0)) revert ZeroToken();
        if (_positionOf[info.chainId] != 0) revert ChainAlreadyRegistered(info.chainId);
        if (info.chainId == block.chainid) _succeed(info);
        _positionOf[info.chainId] = index + 1;
        tokenInfos[index] = info;
    }

    /// @dev Of other chains nothing can be asked from here.
    function _succeed(TokenInfo calldata info) private {
        IVerifier verifier = IVerifier(info.verifier);
        if (verifier.token() != info.token) revert WrongToken(info.token, verifier.token());
        address last = _lastVerifier;
        if (last != address(0) && last != info.verifier && verifier.predecessor() != last) {
            revert WrongPredecessor(last, verifier.predecessor());
        }
        _lastVerifier = info.verifier;
    }

    /// @dev Empties the leaf of this chain's verifier unless that stands behind it.
    function _dropDisowned() private {
        uint256 position = _positionOf[uint64(block.chainid)];
        if (position == 0 || transferRoots[position - 1] == 0) return;
        uint256 index = position - 1;
        address verifier = tokenInfos[index].verifier;
        uint256 proved = IVerifier(verifier).provedTransferRoots(transferTreeIndices[index]);
        if (proved != transferRoots[index] || Pausable(verifier).paused()) _setRoot(index, 0, 0);
    }

    function _setRoot(uint256 index, uint256 root, uint64 treeIndex) private {
        if (transferRoots[index] == root && transferTreeIndices[index] == treeIndex) return;
        transferRoots[index] = root;
        transferTreeIndices[index] = treeIndex;
        isUpToDate = false;
        emit TransferRootUpdated(tokenInfos[index].eid, index, root);
    }

    /// @dev Hashes pairs in place, level by level; what lies right of the last leaf is an empty subtree.
    function _aggregate(uint256[] memory nodes) private view returns (uint256) {
        uint256[] memory constants = Poseidon.roundConstants();
        uint256 width = nodes.length;
        for (uint256 height = 0; height < HEIGHT; ++height) {
            uint256 pairs = (width + 1) / 2;
            for (uint256 i = 0; i < pairs; ++i) {
                uint256 right = 2 * i + 1 < width ? nodes[2 * i + 1] : zeroHash[height];
                nodes[i] = Poseidon.hash(constants, nodes[2 * i], right);
            }
            width = pairs;
        }
        return nodes[0];
    }

    function _indexOf(uint32 eid) private view returns (uint256) {
        uint256 position = eidToPosition[eid];
        if (position == 0) revert TokenNotRegistered(eid);
        return position - 1;
    }
}
