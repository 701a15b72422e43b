// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ISvcPermitBurner} from "./ISvcPermitBurner.sol";

/// @title Shape of the question and the answer of `BurnTrial`
/// @notice Never deployed and never called as a function: `run` names the constructor's arguments and the encoding of
/// what it returns, so that a client can encode and decode with an ordinary ABI.
interface IBurnTrial {
    /// @notice What became of one burn.
    /// @param executed It would be executed, after those before it.
    /// @param reason Raw revert data otherwise, as `BurnFailed` would carry it.
    struct Outcome {
        bool executed;
        bytes reason;
    }

    /// @param helper The permit burner.
    /// @param requests The items of a batch. For the node the question is creation code (EIP-3860) and the answer is
    /// contract code (EIP-170): 50 items fit both.
    /// @return timestamp Time of the block it was tried at.
    /// @return blockNumber Number of that block.
    /// @return outcomes One per item, in order.
    function run(address helper, ISvcPermitBurner.BurnRequest[] calldata requests)
        external
        returns (uint256 timestamp, uint256 blockNumber, Outcome[] memory outcomes);
}
