// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IHub} from "../../src/interfaces/IHub.sol";

/// @dev In place of a verifier, for tests of what surrounds it: stands behind the roots it relays, and remembers what
/// the hub told it.
contract VerifierStandIn {
    address public immutable token;
    address public immutable predecessor;

    mapping(uint64 index => uint256) public provedTransferRoots;
    bool public paused;

    uint256 public root;
    uint64 public aggSeq;
    uint256 public calls;

    constructor(address token_, address predecessor_) {
        (token, predecessor) = (token_, predecessor_);
    }

    function relay(IHub hub, uint256 root_, uint64 index) external {
        provedTransferRoots[index] = root_;
        hub.updateTransferRoot(root_, index);
    }

    function clear(IHub hub) external {
        hub.clearTransferRoot();
    }

    function disown(uint64 index) external {
        delete provedTransferRoots[index];
    }

    function setPaused(bool paused_) external {
        paused = paused_;
    }

    function saveGlobalRoot(uint256 root_, uint64 aggSeq_) external {
        (root, aggSeq, calls) = (root_, aggSeq_, calls + 1);
    }
}
