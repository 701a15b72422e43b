// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {ISvcPermitBurner} from "../src/interfaces/ISvcPermitBurner.sol";
import {Token} from "../src/Token.sol";
import {BurnSpec} from "./support/BurnSpec.sol";
import {BlocklistToken, BombToken, FeeToken, RefusingToken, SilentToken} from "./support/HostileTokens.sol";
import {Vm} from "./support/Spec.sol";

/// @dev `burn`: one request, whole or not at all.
contract BurnTest is BurnSpec {
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    function test_R_036_the_domain_is_SvcPermitBurner_version_1() public view {
        (, string memory name, string memory version, uint256 chainId, address verifying,,) = burner.eip712Domain();
        same(bytes(name), "SvcPermitBurner", "name");
        same(bytes(version), "1", "version");
        same(chainId, block.chainid, "chain id");
        same(verifying, address(burner), "verifying contract");
    }

    function testFuzz_R_036_the_digest_is_that_of_the_published_type(
        ISvcPermitBurner.BurnAuthorization memory authorization
    ) public view {
        bytes32 typeHash = keccak256(
            "BurnAuthorization(address token,address payer,address burnAddress,uint256 value,bytes32 challengeNonce,uint256 deadline)"
        );
        bytes32 domainType =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        bytes32 domain = keccak256(
            abi.encode(domainType, keccak256("SvcPermitBurner"), keccak256("1"), block.chainid, address(burner))
        );
        bytes32 structHash = keccak256(abi.encode(typeHash, authorization));
        bytes32 digest = keccak256(bytes.concat(hex"1901", domain, structHash));
        same(burner.authorizationDigest(authorization), digest, "digest");
    }

    function testFuzz_moves_exactly_the_value_from_payer_to_burn_address(
        uint256 value,
        bytes32 challengeNonce,
        address burnAddress,
        uint256 dust
    ) public {
        value = within(value, 0, FUNDS);
        dust = within(dust, 0, FUNDS);
        vm.assume(burnAddress != address(0) && burnAddress != payer && burnAddress != address(burner));
        token.mint(burnAddress, dust);
        ISvcPermitBurner.BurnAuthorization memory authorization = authorizationOf(address(token), challengeNonce);
        (authorization.value, authorization.burnAddress) = (value, burnAddress);
        ISvcPermitBurner.BurnRequest memory request = signed(authorization, PAYER_KEY, 0);

        check(!executed(request), "executed too early");
        burner.burn(request);
        check(executed(request), "not executed");
        same(token.balanceOf(burnAddress), dust + value, "burn address");
        same(token.balanceOf(payer), FUNDS - value, "payer");
        same(token.balanceOf(address(burner)), 0, "held funds");
        same(token.allowance(payer, address(burner)), 0, "left allowance");
        same(token.nonces(payer), 1, "permit nonce");
    }

    function test_announces_the_burn() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.recordLogs();
        burner.burn(request);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        Vm.Log memory last = logs[logs.length - 1];
        same(last.emitter, address(burner), "emitter");
        same(last.topics[0], keccak256("BurnExecuted(bytes32,address,address,address,uint256)"), "topic");
        same(last.topics[1], CHALLENGE, "challenge nonce");
        same(last.topics[2], bytes32(uint256(uint160(address(token)))), "token");
        same(last.topics[3], bytes32(uint256(uint160(payer))), "payer");
        same(last.data, abi.encode(BURN_ADDRESS, VALUE), "data");
    }

    function testFuzz_anyone_may_submit(address submitter) public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.prank(submitter);
        burner.burn(request);
        check(executed(request), "not executed");
    }

    // --- Replay -----------------------------------------------------------------------------------------------------

    function test_R_132_a_burn_never_happens_twice() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        burner.burn(request);
        // Even with an allowance that would let it through.
        vm.prank(payer);
        token.approve(address(burner), type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(ISvcPermitBurner.BurnAlreadyExecuted.selector, CHALLENGE));
        burner.burn(request);
        same(token.balanceOf(BURN_ADDRESS), VALUE, "burned once");
    }

    function testFuzz_R_132_the_same_burn_under_a_later_deadline_is_still_the_same(uint256 later) public {
        burner.burn(requestOf(CHALLENGE));
        ISvcPermitBurner.BurnAuthorization memory again = authorizationOf(address(token), CHALLENGE);
        again.deadline = within(later, DEADLINE + 1, type(uint256).max);
        ISvcPermitBurner.BurnRequest memory request = signed(again, PAYER_KEY, 1);
        vm.expectRevert(abi.encodeWithSelector(ISvcPermitBurner.BurnAlreadyExecuted.selector, CHALLENGE));
        burner.burn(request);
    }

    function test_a_stranger_cannot_use_up_or_fake_the_challenge_of_another() public {
        // The stranger sees the nonce in the mempool and burns a trifle of their own for it, to the same address.
        address stranger = vm.addr(STRANGER_KEY);
        token.mint(stranger, VALUE);
        ISvcPermitBurner.BurnAuthorization memory foreign = authorizationOf(address(token), CHALLENGE);
        foreign.payer = stranger;
        burner.burn(signed(foreign, STRANGER_KEY, 0));

        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        check(!executed(request), "looks paid");
        burner.burn(request);
        check(executed(request), "was blocked");
    }

    function testFuzz_the_ledger_tells_burns_apart_by_every_field(uint8 field) public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        burner.burn(request);
        ISvcPermitBurner.BurnAuthorization memory other = authorizationOf(address(token), CHALLENGE);
        field = field % 5;
        if (field == 0) other.token = address(burner);
        if (field == 1) other.payer = address(burner);
        if (field == 2) other.burnAddress = address(burner);
        if (field == 3) other.value += 1;
        if (field == 4) other.challengeNonce = ~CHALLENGE;
        request.authorization = other;
        check(!executed(request), "mistaken for the executed burn");
    }

    // --- Signatures -------------------------------------------------------------------------------------------------

    function testFuzz_only_the_payer_can_authorize(uint256 key) public {
        key = within(key, 1, CURVE_ORDER - 1);
        vm.assume(key != PAYER_KEY);
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        request.burnAuthSig = authSignature(request.authorization, key);
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector));
    }

    function testFuzz_changing_any_signed_field_breaks_the_authorization(uint8 field, uint256 change) public {
        change = within(change, 1, type(uint64).max);
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        ISvcPermitBurner.BurnAuthorization memory it = request.authorization;
        field = field % 6;
        if (field == 0) it.token = address(new Token("Other", "O", 6, address(this)));
        if (field == 1) it.payer = address(uint160(payer) ^ uint160(change));
        if (field == 2) it.burnAddress = address(uint160(BURN_ADDRESS) ^ uint160(change));
        if (field == 3) it.value = VALUE ^ change;
        if (field == 4) it.challengeNonce = CHALLENGE ^ bytes32(change);
        if (field == 5) it.deadline = DEADLINE + change;
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector));
    }

    function test_a_high_s_signature_is_refused() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(PAYER_KEY, burner.authorizationDigest(request.authorization));
        request.burnAuthSig = bytes.concat(r, bytes32(CURVE_ORDER - uint256(s)), bytes1(v == 27 ? 28 : 27));
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector));
    }

    function testFuzz_a_malformed_signature_is_refused(bytes memory signature) public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        request.burnAuthSig = signature;
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector));
    }

    function testFuzz_a_signature_with_another_recovery_id_is_refused(uint8 v) public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.assume(bytes1(v) != request.burnAuthSig[64]);
        request.burnAuthSig[64] = bytes1(v);
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector));
    }

    function test_nobody_can_pay_as_the_zero_address() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        request.authorization.payer = address(0);
        request.burnAuthSig = new bytes(65);
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.InvalidBurnAuthorization.selector));
    }

    // --- Deadline and addresses -------------------------------------------------------------------------------------

    function testFuzz_R_038_a_passed_deadline_is_refused(uint256 late) public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.warp(within(late, DEADLINE + 1, type(uint64).max));
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.BurnExpired.selector, DEADLINE));
    }

    function test_R_038_the_last_second_of_the_deadline_still_counts() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.warp(DEADLINE);
        burner.burn(request);
        check(executed(request), "not executed");
    }

    function test_the_zero_burn_address_is_refused() public {
        ISvcPermitBurner.BurnAuthorization memory authorization = authorizationOf(address(token), CHALLENGE);
        authorization.burnAddress = address(0);
        refuses(
            signed(authorization, PAYER_KEY, 0), abi.encodeWithSelector(ISvcPermitBurner.ZeroBurnAddress.selector)
        );
    }

    function test_a_burn_to_the_payer_itself_is_refused() public {
        ISvcPermitBurner.BurnAuthorization memory authorization = authorizationOf(address(token), CHALLENGE);
        authorization.burnAddress = payer;
        refuses(
            signed(authorization, PAYER_KEY, 0),
            abi.encodeWithSelector(ISvcPermitBurner.BurnMismatch.selector, VALUE, 0)
        );
    }

    function test_a_token_without_code_is_refused() public {
        refuses(
            looseRequestOf(address(0xdead), CHALLENGE),
            abi.encodeWithSelector(ISvcPermitBurner.TokenWithoutCode.selector, address(0xdead))
        );
    }

    // --- Permit -----------------------------------------------------------------------------------------------------

    function test_a_front_run_permit_is_tolerated() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.prank(vm.addr(STRANGER_KEY));
        token.permit(payer, address(burner), VALUE, DEADLINE, request.v, request.r, request.s);
        burner.burn(request);
        check(executed(request), "not executed");
        same(token.allowance(payer, address(burner)), 0, "left allowance");
    }

    function testFuzz_a_used_permit_fails_when_the_allowance_does_not_suffice(uint256 allowance) public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        token.permit(payer, address(burner), VALUE, DEADLINE, request.v, request.r, request.s);
        vm.prank(payer);
        token.approve(address(burner), within(allowance, 0, VALUE - 1));
        try burner.burn(request) {
            revert("burned");
        } catch (bytes memory reason) {
            same(bytes4(reason), ISvcPermitBurner.PermitRejected.selector, "reason");
        }
    }

    function test_a_permit_of_a_stranger_is_refused_with_the_words_of_the_token() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        (request.v, request.r, request.s) = vm.sign(STRANGER_KEY, permitDigest(request.authorization, 0));
        bytes memory refusal =
            abi.encodeWithSelector(ERC20Permit.ERC2612InvalidSigner.selector, vm.addr(STRANGER_KEY), payer);
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.PermitRejected.selector, refusal));
    }

    function test_of_two_challenges_signed_with_one_permit_nonce_only_one_burns() public {
        ISvcPermitBurner.BurnRequest memory first = requestOf(CHALLENGE);
        ISvcPermitBurner.BurnRequest memory second = requestOf(~CHALLENGE);
        burner.burn(first);
        try burner.burn(second) {
            revert("burned");
        } catch (bytes memory reason) {
            same(bytes4(reason), ISvcPermitBurner.PermitRejected.selector, "reason");
        }
        same(token.balanceOf(BURN_ADDRESS), VALUE, "burned once");
    }

    function test_an_overlong_reason_of_a_permit_is_named_and_not_copied() public {
        ISvcPermitBurner.BurnRequest memory request = looseRequestOf(address(new BombToken(257, true)), CHALLENGE);
        bytes memory marker = abi.encodeWithSelector(ISvcPermitBurner.ReasonTooLong.selector, 257);
        refuses(request, abi.encodeWithSelector(ISvcPermitBurner.PermitRejected.selector, marker));
    }

    // --- Transfer ---------------------------------------------------------------------------------------------------

    function test_a_payer_who_spent_the_money_is_refused_with_the_words_of_the_token() public {
        ISvcPermitBurner.BurnRequest memory request = requestOf(CHALLENGE);
        vm.prank(payer);
        token.transfer(address(this), FUNDS - VALUE + 1);
        refuses(
            request,
            abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, payer, VALUE - 1, VALUE)
        );
        same(token.nonces(payer), 0, "permit nonce");
    }

    function test_a_refusal_of_the_token_passes_through() public {
        BlocklistToken blocklist = new BlocklistToken();
        refuses(
            looseRequestOf(address(blocklist), CHALLENGE),
            abi.encodeWithSelector(BlocklistToken.AddressIsBlocked.selector, payer)
        );
    }

    function testFuzz_a_token_that_delivers_another_amount_is_refused(uint256 surplus) public {
        int256 difference = int256(within(surplus, 0, 2 * VALUE)) - int256(VALUE);
        vm.assume(difference != 0);
        FeeToken fee = new FeeToken(difference);
        fee.give(payer, FUNDS);
        uint256 received = uint256(int256(VALUE) + difference);
        refuses(
            looseRequestOf(address(fee), CHALLENGE),
            abi.encodeWithSelector(ISvcPermitBurner.BurnMismatch.selector, VALUE, received)
        );
    }

    function test_a_token_that_answers_false_is_refused() public {
        RefusingToken refusing = new RefusingToken();
        refuses(
            looseRequestOf(address(refusing), CHALLENGE),
            abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(refusing))
        );
    }

    function test_a_token_that_answers_nothing_but_moves_the_value_is_accepted() public {
        SilentToken silent = new SilentToken();
        silent.give(payer, FUNDS);
        ISvcPermitBurner.BurnRequest memory request = looseRequestOf(address(silent), CHALLENGE);
        burner.burn(request);
        check(executed(request), "not executed");
    }
}
