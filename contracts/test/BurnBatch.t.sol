// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {ISvcPermitBurner} from "../src/interfaces/ISvcPermitBurner.sol";
import {SvcPermitBurner} from "../src/SvcPermitBurner.sol";
import {BurnSpec} from "./support/BurnSpec.sol";
import {BombToken, GluttonToken, MeterToken, ReentrantToken} from "./support/HostileTokens.sol";
import {Vm} from "./support/Spec.sol";

/// @dev `burnBatch`: items fail alone, whatever their tokens do.
contract BurnBatchTest is BurnSpec {
    function testFuzz_every_good_item_burns_and_every_bad_one_fails_alone(uint256 goodMask, uint256 count) public {
        count = within(count, 0, 8);
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](count);
        uint256 good = 0;
        for (uint256 i = 0; i < count; ++i) {
            bool isGood = goodMask >> i & 1 == 1;
            requests[i] = signed(authorizationOf(address(token), bytes32(i)), PAYER_KEY, good);
            if (isGood) ++good;
            else requests[i].burnAuthSig = authSignature(requests[i].authorization, STRANGER_KEY);
        }

        vm.recordLogs();
        burner.burnBatch(requests);
        Vm.Log[] memory logs = vm.getRecordedLogs();

        for (uint256 i = 0; i < count; ++i) {
            bool isGood = goodMask >> i & 1 == 1;
            check(executed(requests[i]) == isGood, "ledger");
            if (!isGood) same(failureOf(logs, bytes32(i)), _invalid(), "reason");
        }
        same(countOf(logs, ISvcPermitBurner.BurnExecuted.selector), good, "executed events");
        same(countOf(logs, ISvcPermitBurner.BurnFailed.selector), count - good, "failed events");
        same(token.balanceOf(BURN_ADDRESS), good * VALUE, "burn address");
        same(token.balanceOf(payer), FUNDS - good * VALUE, "payer");
        same(token.balanceOf(address(burner)), 0, "held funds");
    }

    function test_R_132_the_same_request_twice_in_one_batch_burns_once() public {
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](2);
        requests[0] = requestOf(CHALLENGE);
        requests[1] = requests[0];
        vm.recordLogs();
        burner.burnBatch(requests);
        bytes memory reason = failureOf(vm.getRecordedLogs(), CHALLENGE);
        same(reason, abi.encodeWithSelector(ISvcPermitBurner.BurnAlreadyExecuted.selector, CHALLENGE), "reason");
        same(token.balanceOf(BURN_ADDRESS), VALUE, "burned once");
    }

    function test_a_failed_item_leaves_no_trace_and_can_be_sent_again() public {
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](1);
        requests[0] = requestOf(CHALLENGE);
        vm.prank(payer);
        token.transfer(address(this), FUNDS);
        burner.burnBatch(requests);
        check(!executed(requests[0]), "in the ledger");
        same(token.nonces(payer), 0, "permit nonce");

        token.transfer(payer, VALUE);
        burner.burnBatch(requests);
        check(executed(requests[0]), "not executed");
    }

    function testFuzz_a_signature_of_another_length_fails_its_item_only(bytes memory signature) public {
        vm.assume(signature.length != 65);
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](2);
        requests[0] = requestOf(~CHALLENGE);
        requests[0].burnAuthSig = signature;
        requests[1] = requestOf(CHALLENGE);
        vm.recordLogs();
        burner.burnBatch(requests);
        same(failureOf(vm.getRecordedLogs(), ~CHALLENGE), _invalid(), "reason");
        check(executed(requests[1]), "the good item failed");
    }

    function testFuzz_revert_data_is_reported_up_to_256_bytes(uint256 length) public {
        length = within(length, 0, 512);
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](1);
        requests[0] = looseRequestOf(address(new BombToken(length, false)), CHALLENGE);
        vm.recordLogs();
        burner.burnBatch(requests);
        bytes memory reason = failureOf(vm.getRecordedLogs(), CHALLENGE);
        bytes memory marker = abi.encodeWithSelector(ISvcPermitBurner.ReasonTooLong.selector, length);
        if (length > 256) same(reason, marker, "marker");
        else same(reason.length, length, "length");
    }

    // --- Gas --------------------------------------------------------------------------------------------------------

    /// @dev The whole promise about gas: given any amount of it, a batch either does not start, or every good item
    /// burns, however its neighbours waste theirs.
    function testFuzz_hostile_items_cannot_starve_good_ones(uint256 gasGiven, uint256 hostileMask, uint256 count)
        public
    {
        count = within(count, 1, 8);
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](count);
        address[4] memory hostile = [
            address(new GluttonToken()),
            address(new BombToken(256, false)),
            address(new BombToken(200_000, false)),
            address(new BombToken(200_000, true))
        ];
        uint256 good = 0;
        for (uint256 i = 0; i < count; ++i) {
            if (hostileMask >> i & 1 == 1) requests[i] = looseRequestOf(hostile[i % 4], bytes32(i));
            else requests[i] = signed(authorizationOf(address(token), bytes32(i)), PAYER_KEY, good++);
        }

        uint256 minimum = burner.minimumBatchGas(count);
        try burner.burnBatch{gas: within(gasGiven, minimum - 20_000, minimum + 40_000)}(requests) {
            same(token.balanceOf(BURN_ADDRESS), good * VALUE, "burn address");
        } catch (bytes memory reason) {
            same(bytes4(reason), ISvcPermitBurner.InsufficientBatchGas.selector, "reason");
            same(token.balanceOf(BURN_ADDRESS), 0, "burn address");
        }
    }

    function testFuzz_the_last_item_gets_its_full_share_behind_any_waste(uint256 gasGiven, uint256 count) public {
        count = within(count, 1, 6);
        (, uint256 fullShare) = _gasOfLastItem(count, 10_000_000);
        uint256 minimum = burner.minimumBatchGas(count);
        (bool started, uint256 share) = _gasOfLastItem(count, within(gasGiven, minimum - 20_000, minimum + 40_000));
        if (started) same(share, fullShare, "share");
    }

    function test_a_giant_signature_cannot_starve_the_other_items() public {
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](2);
        requests[0] = requestOf(~CHALLENGE);
        requests[0].burnAuthSig = new bytes(1_000_000);
        requests[1] = requestOf(CHALLENGE);
        burner.burnBatch{gas: burner.minimumBatchGas(2) + 2_000}(requests);
        check(executed(requests[1]), "the good item failed");
    }

    function test_a_batch_with_the_minimum_gas_and_its_own_calldata_starts() public {
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](50);
        for (uint256 i = 0; i < requests.length; ++i) {
            requests[i] = signed(authorizationOf(address(token), bytes32(i)), PAYER_KEY, i);
        }
        burner.burnBatch{gas: burner.minimumBatchGas(50) + 2_000}(requests);
        same(token.balanceOf(BURN_ADDRESS), 50 * VALUE, "burn address");
    }

    function test_a_glutton_costs_no_more_than_its_share() public {
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](1);
        requests[0] = looseRequestOf(address(new GluttonToken()), CHALLENGE);
        vm.recordLogs();
        uint256 before = gasleft();
        burner.burnBatch(requests);
        check(before - gasleft() < burner.minimumBatchGas(1) + 10_000, "used more than its share");
        same(failureOf(vm.getRecordedLogs(), CHALLENGE).length, 0, "reason");
    }

    /// @dev Fresh contracts each time, so that two runs differ in nothing but the gas they are given.
    function _gasOfLastItem(uint256 count, uint256 gasGiven) private returns (bool started, uint256 gasSeen) {
        burner = new SvcPermitBurner();
        MeterToken meter = new MeterToken();
        address[2] memory wasteful = [address(new GluttonToken()), address(new BombToken(256, false))];
        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](count);
        for (uint256 i = 0; i < count; ++i) {
            requests[i] = looseRequestOf(i == count - 1 ? address(meter) : wasteful[i % 2], bytes32(i));
        }
        meter.give(payer, VALUE);
        try burner.burnBatch{gas: gasGiven}(requests) {
            started = true;
        } catch (bytes memory reason) {
            same(bytes4(reason), ISvcPermitBurner.InsufficientBatchGas.selector, "reason");
        }
        return (started, meter.gasSeen());
    }

    // --- Reentrancy -------------------------------------------------------------------------------------------------

    function test_a_token_cannot_reenter_burn() public {
        _reenters(abi.encodeCall(burner.burn, (requestOf(~CHALLENGE))), _reentrant());
    }

    function test_a_token_cannot_reenter_the_batch() public {
        ISvcPermitBurner.BurnRequest[] memory inner = new ISvcPermitBurner.BurnRequest[](1);
        inner[0] = requestOf(~CHALLENGE);
        _reenters(abi.encodeCall(burner.burnBatch, (inner)), _reentrant());
    }

    function test_a_token_cannot_reach_the_item_function() public {
        _reenters(
            abi.encodeCall(burner.burnItem, (requestOf(~CHALLENGE))),
            abi.encodeWithSelector(ISvcPermitBurner.OnlySelf.selector)
        );
    }

    function testFuzz_nobody_can_call_the_item_function(address caller) public {
        vm.assume(caller != address(burner));
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.prank(caller);
        vm.expectRevert(ISvcPermitBurner.OnlySelf.selector);
        burner.burnItem(request);
    }

    /// @dev The token calls back during its transfer, in a single burn and in a batch; the callback must be refused
    /// each time and the burn itself must go on.
    function _reenters(bytes memory callback, bytes memory refusal) private {
        ReentrantToken reentrant = new ReentrantToken();
        reentrant.give(payer, FUNDS);
        reentrant.prepare(address(burner), callback);

        burner.burn(looseRequestOf(address(reentrant), CHALLENGE));
        same(reentrant.outcome(), refusal, "single");

        ISvcPermitBurner.BurnRequest[] memory requests = new ISvcPermitBurner.BurnRequest[](1);
        requests[0] = looseRequestOf(address(reentrant), keccak256("another challenge"));
        burner.burnBatch(requests);
        check(executed(requests[0]), "not executed");
        same(reentrant.outcome(), refusal, "batch");
        same(token.balanceOf(BURN_ADDRESS), 0, "the callback burned");
    }

    function _reentrant() private pure returns (bytes memory) {
        return abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
    }

    function _invalid() private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector);
    }
}
