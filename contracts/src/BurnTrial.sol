// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";

import {IBurnTrial} from "./interfaces/IBurnTrial.sol";
import {ISvcPermitBurner} from "./interfaces/ISvcPermitBurner.sol";

/// @title What every burn of a batch would do at this block, tried in one `eth_call`
/// @notice Never deployed: its creation code runs in an `eth_call` without `to`, and what would become the contract's
/// code is the answer. A batch tells its failures by events, which an `eth_call` does not show; here they are returned.
/// See `IBurnTrial.run` for the encoding.
contract BurnTrial {
    /// @dev What `burnBatch` gives each item.
    uint256 private constant ITEM_GAS = 250_000;

    /// @dev Longest revert data that is passed on: 50 of them fit into an answer.
    uint256 private constant REASON_BYTES_MAX = 256;

    constructor(address helper, ISvcPermitBurner.BurnRequest[] memory requests) {
        IBurnTrial.Outcome[] memory outcomes = new IBurnTrial.Outcome[](requests.length);
        for (uint256 i = 0; i < requests.length; ++i) {
            // What an earlier item took is gone for the later ones, as in the batch.
            try ISvcPermitBurner(helper).burn{gas: ITEM_GAS}(requests[i]) {
                outcomes[i].executed = true;
            } catch {
                if (LowLevelCall.returnDataSize() <= REASON_BYTES_MAX) outcomes[i].reason = LowLevelCall.returnData();
            }
        }
        bytes memory answer = abi.encode(block.timestamp, block.number, outcomes);
        // Solidity has no other way to choose what a constructor returns.
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}
