// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {IHub} from "./interfaces/IHub.sol";

/// @title Registry of tokens and their verifiers
contract Hub is IHub, Ownable {
    /// @notice Leaves of the aggregation tree, whose height is 6.
    uint256 public constant MAX_LEAVES = 64;

    TokenInfo[] public override tokenInfos;
    mapping(uint32 eid => uint256) public override eidToPosition;

    constructor(address owner_) Ownable(owner_) {}

    /// @inheritdoc IHub
    function registerToken(TokenInfo calldata info) external override onlyOwner {
        if (info.chainId == 0) revert InvalidChainId();
        if (info.verifier == address(0)) revert ZeroVerifier();
        if (info.token == address(0)) revert ZeroToken();
        if (eidToPosition[info.eid] != 0) revert TokenAlreadyRegistered(info.eid);
        uint256 index = tokenInfos.length;
        if (index == MAX_LEAVES) revert HubCapacityReached();

        tokenInfos.push(info);
        eidToPosition[info.eid] = index + 1;
        emit TokenRegistered(info.eid, index, info.chainId, info.token, info.verifier);
    }

    /// @inheritdoc IHub
    function getTokenInfos() external view override returns (TokenInfo[] memory) {
        return tokenInfos;
    }
}
