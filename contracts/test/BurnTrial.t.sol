// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";

import {BurnTrial} from "../src/BurnTrial.sol";
import {IBurnTrial} from "../src/interfaces/IBurnTrial.sol";
import {ISvcPermitBurner} from "../src/interfaces/ISvcPermitBurner.sol";
import {BurnSpec} from "./support/BurnSpec.sol";

/// @dev The answer is what would become the code of the trial, so the tests read it from there. Unlike an `eth_call`,
/// a test keeps what the trial did.
contract BurnTrialTest is BurnSpec {
    function test_says_when_it_tried() public {
        vm.warp(NOW + 17);
        bytes memory answer = address(new BurnTrial(address(burner), new ISvcPermitBurner.BurnRequest[](0))).code;
        (uint256 timestamp, uint256 number, IBurnTrial.Outcome[] memory outcomes) =
            abi.decode(answer, (uint256, uint256, IBurnTrial.Outcome[]));
        same(timestamp, NOW + 17, "timestamp");
        same(number, block.number, "block number");
        same(outcomes.length, 0, "outcomes");
    }

    function test_each_item_fails_alone_with_the_reason_a_batch_would_give() public {
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](3);
        requests[0] = requestOf(CHALLENGE);
        requests[1] = requestOf(CHALLENGE);
        requests[2] = signed(authorizationOf(address(token), keccak256("next")), PAYER_KEY, 1);
        IBurnTrial.Outcome[] memory outcomes = _try(requests);
        check(outcomes[0].executed && !outcomes[1].executed && outcomes[2].executed, "executed");
        same(
            outcomes[1].reason,
            abi.encodeWithSelector(ISvcPermitBurner.BurnAlreadyExecuted.selector, CHALLENGE),
            "reason"
        );
        same(outcomes[0].reason, "", "no reason");
    }

    function test_what_an_earlier_item_took_is_gone_for_the_later_ones() public {
        vm.prank(payer);
        token.transfer(address(this), FUNDS - VALUE);
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](2);
        requests[0] = requestOf(CHALLENGE);
        requests[1] = signed(authorizationOf(address(token), keccak256("next")), PAYER_KEY, 1);
        IBurnTrial.Outcome[] memory outcomes = _try(requests);
        check(outcomes[0].executed && !outcomes[1].executed, "executed");
        same(
            outcomes[1].reason,
            abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, payer, 0, VALUE),
            "reason"
        );
    }

    function _try(ISvcPermitBurner.BurnRequest[] memory requests) private returns (IBurnTrial.Outcome[] memory outcomes) {
        bytes memory answer = address(new BurnTrial(address(burner), requests)).code;
        (,, outcomes) = abi.decode(answer, (uint256, uint256, IBurnTrial.Outcome[]));
    }
}
