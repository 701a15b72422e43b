// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IPaymentLens} from "../src/interfaces/IPaymentLens.sol";
import {ISvcPermitBurner} from "../src/interfaces/ISvcPermitBurner.sol";
import {PaymentLens} from "../src/PaymentLens.sol";
import {BurnSpec} from "./support/BurnSpec.sol";

/// @dev The answer is what would become the code of the lens, so the tests read it from there.
contract PaymentLensTest is BurnSpec {
    address private constant DELEGATED = address(0x7702);

    function test_reads_time_block_chain_and_token_name() public {
        vm.warp(NOW + 17);
        (uint256 timestamp, uint256 number, uint256 chainId,,, string memory name) =
            _read(address(burner), new IPaymentLens.PermitQuery[](0), new address[](0));
        same(timestamp, NOW + 17, "timestamp");
        same(number, block.number, "block number");
        same(chainId, block.chainid, "chain id");
        same(bytes(name), "Test zUSD", "token name");
    }

    function testFuzz_reads_every_permit_fact(uint256 allowance, uint256 balance, bool burned) public {
        balance = within(balance, FUNDS, type(uint248).max - FUNDS);
        token.mint(payer, balance - FUNDS);
        if (burned) {
            burner.burn(requestOf(CHALLENGE));
            balance -= VALUE;
        }
        vm.prank(payer);
        token.approve(address(burner), allowance);

        IPaymentLens.PermitFact memory fact = _factOf(address(burner), payer);
        same(fact.nonce, burned ? 1 : 0, "nonce");
        same(fact.balance, balance, "balance");
        same(fact.allowance, allowance, "allowance");
        check(fact.executed == burned, "executed");
        same(uint256(fact.code), uint256(IPaymentLens.AccountCode.None), "code");
    }

    function test_without_a_helper_allowance_and_ledger_are_empty() public {
        burner.burn(requestOf(CHALLENGE));
        IPaymentLens.PermitFact memory fact = _factOf(address(0), payer);
        same(fact.nonce, 1, "nonce");
        same(fact.allowance, 0, "allowance");
        check(!fact.executed, "executed");
    }

    function test_R_026_contracts_and_delegated_accounts_are_told_apart() public {
        vm.etch(DELEGATED, bytes.concat(hex"ef0100", bytes20(address(token))));
        _has(DELEGATED, IPaymentLens.AccountCode.Delegated);
        _has(address(token), IPaymentLens.AccountCode.Contract);
        // Of the same length as a delegation, but without its prefix.
        vm.etch(DELEGATED, bytes.concat(hex"600100", bytes20(address(token))));
        _has(DELEGATED, IPaymentLens.AccountCode.Contract);
    }

    function testFuzz_answers_many_questions_in_order(uint8 permits, uint8 burns) public {
        permits = permits % 100;
        burns = burns % 100;
        IPaymentLens.PermitQuery[] memory queries = new IPaymentLens.PermitQuery[](permits);
        address[] memory burnAddresses = new address[](burns);
        for (uint256 i = 0; i < permits; ++i) {
            queries[i] = _queryOf(address(uint160(1000 + i)));
            token.mint(queries[i].payer, i + 1);
        }
        for (uint256 i = 0; i < burns; ++i) {
            burnAddresses[i] = address(uint160(2000 + i));
            token.mint(burnAddresses[i], 2 * i + 1);
        }

        (,,, IPaymentLens.PermitFact[] memory facts, uint256[] memory balances,) =
            _read(address(burner), queries, burnAddresses);
        same(facts.length, permits, "facts");
        same(balances.length, burns, "balances");
        for (uint256 i = 0; i < permits; ++i) same(facts[i].balance, i + 1, "payer balance");
        for (uint256 i = 0; i < burns; ++i) same(balances[i], 2 * i + 1, "burn balance");
    }

    function _has(address account, IPaymentLens.AccountCode code) private {
        same(uint256(_factOf(address(burner), account).code), uint256(code), "code");
    }

    function _factOf(address helper, address account) private returns (IPaymentLens.PermitFact memory) {
        IPaymentLens.PermitQuery[] memory queries = new IPaymentLens.PermitQuery[](1);
        queries[0] = _queryOf(account);
        (,,, IPaymentLens.PermitFact[] memory facts,,) = _read(helper, queries, new address[](0));
        return facts[0];
    }

    function _queryOf(address account) private pure returns (IPaymentLens.PermitQuery memory) {
        return IPaymentLens.PermitQuery(account, BURN_ADDRESS, VALUE, CHALLENGE);
    }

    function _read(address helper, IPaymentLens.PermitQuery[] memory queries, address[] memory burnAddresses)
        private
        returns (uint256, uint256, uint256, IPaymentLens.PermitFact[] memory, uint256[] memory, string memory)
    {
        bytes memory answer = address(new PaymentLens(address(token), helper, queries, burnAddresses)).code;
        return abi.decode(answer, (uint256, uint256, uint256, IPaymentLens.PermitFact[], uint256[], string));
    }
}
