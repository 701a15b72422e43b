// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ITeleports} from "../src/interfaces/ITeleports.sol";
import {IToken} from "../src/interfaces/IToken.sol";
import {ITransferRoots} from "../src/interfaces/ITransferRoots.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {Token} from "../src/Token.sol";
import {Verifier} from "../src/Verifier.sol";
import {WithdrawStandIn} from "./support/ProofStandIns.sol";
import {RootSpec} from "./support/RootSpec.sol";

/// @dev A token whose verifier is replaced after it minted.
contract MigrationTest is RootSpec {
    address private constant RECIPIENT = address(0xBEEF);

    ITeleports.GeneralRecipient private gr;
    address private withdraw;

    function setUp() public override {
        super.setUp();
        withdraw = address(new WithdrawStandIn());
        gr = ITeleports.GeneralRecipient(uint64(block.chainid), bytes32(uint256(uint160(RECIPIENT))), "tweak");
        grow(5);
        _prepare(verifier);
    }

    function testFuzz_what_was_minted_before_is_not_minted_again(uint256 before, uint256 shown) public {
        before = within(before, 1, type(uint128).max);
        shown = within(shown, 0, type(uint248).max);
        _mint(verifier, before);
        Verifier next = _successorOf(verifier);
        same(next.predecessor(), address(verifier), "predecessor");
        same(next.totalTeleported(_hash()), before, "carried over");

        bytes memory proof = _proof(shown);
        if (shown <= before) {
            vm.expectRevert(abi.encodeWithSelector(ITeleports.NothingToWithdraw.selector, before, shown));
        }
        next.singleTeleport(false, 5, gr, proof);
        uint256 highest = shown > before ? shown : before;
        same(token.balanceOf(RECIPIENT), highest, "balance");
        same(next.totalTeleported(_hash()), highest, "total");
    }

    function testFuzz_mints_are_remembered_over_several_verifiers(uint256 first, uint256 second, uint256 third) public {
        first = within(first, 1, type(uint64).max);
        second = within(second, first + 1, type(uint128).max);
        third = within(third, second + 1, type(uint248).max);
        _mint(verifier, first);
        Verifier next = _successorOf(verifier);
        Verifier last = _successorOf(_successorOf(next));
        same(last.totalTeleported(_hash()), first, "through one that minted nothing");

        bytes memory proof = _proof(second);
        vm.expectRevert(IToken.OnlyVerifier.selector);
        next.singleTeleport(false, 5, gr, proof);
        _mint(last, second);
        same(token.balanceOf(RECIPIENT), second, "second");

        Verifier final_ = _successorOf(last);
        vm.expectRevert(abi.encodeWithSelector(ITeleports.NothingToWithdraw.selector, second, second));
        final_.singleTeleport(false, 5, gr, proof);
        final_.singleTeleport(false, 5, gr, _proof(third));
        same(token.balanceOf(RECIPIENT), third, "third");
        same(verifier.totalTeleported(_hash()), first, "the first knows nothing of it");
    }

    function test_a_predecessor_counts_for_aggregation_roots_and_fees_too() public {
        _mint(verifier, 9);
        Verifier next = _successorOf(verifier);
        next.setHub(address(this));
        next.saveGlobalRoot(rootAt(5), 1);
        bytes memory proof = _proof(9);
        bytes memory refusal = abi.encodeWithSelector(ITeleports.NothingToWithdraw.selector, 9, 9);
        vm.expectRevert(refusal);
        next.singleTeleport(true, 1, gr, proof);
        ITeleports.RelayerFee memory fee = ITeleports.RelayerFee(1, 1, uint64(block.timestamp), "");
        vm.expectRevert(refusal);
        next.singleTeleport(false, 5, gr, proof, fee);
        vm.expectRevert(refusal);
        next.teleport(false, 5, gr, proof);
    }

    function test_the_verifier_in_use_cannot_be_left_out() public {
        vm.expectRevert(
            abi.encodeWithSelector(IVerifier.WrongPredecessor.selector, address(verifier), address(0))
        );
        new Verifier(address(token), 8, address(this), address(0));
        Verifier next = _successorOf(verifier);
        vm.expectRevert(
            abi.encodeWithSelector(IVerifier.WrongPredecessor.selector, address(next), address(verifier))
        );
        new Verifier(address(token), 8, address(this), address(verifier));
    }

    function test_a_predecessor_that_cannot_answer_is_refused() public {
        Token fresh = new Token("Fresh zUSD", "zUSD", 6, address(this));
        try new Verifier(address(fresh), 8, address(this), RECIPIENT) {
            check(false, "an account without code passed");
        } catch {}
        try new Verifier(address(fresh), 8, address(this), address(root16)) {
            check(false, "a contract that counts nothing passed");
        } catch {}
        fresh.setVerifier(RECIPIENT);
        new Verifier(address(fresh), 8, address(this), address(0));
    }

    function test_of_two_successors_of_one_verifier_only_the_first_ever_mints() public {
        _mint(verifier, 9);
        Verifier first = new Verifier(address(token), 8, address(this), address(verifier));
        Verifier second = new Verifier(address(token), 8, address(this), address(verifier));
        token.setVerifier(address(first));
        bytes memory refusal =
            abi.encodeWithSelector(IToken.WrongPredecessor.selector, address(first), address(verifier));
        vm.expectRevert(refusal);
        token.setVerifier(address(second));
        same(token.verifier(), address(first), "verifier");
    }

    function test_an_earlier_verifier_never_comes_back() public {
        Verifier next = _successorOf(verifier);
        vm.expectRevert(
            abi.encodeWithSelector(IToken.WrongPredecessor.selector, address(next), address(0))
        );
        token.setVerifier(address(verifier));
    }

    function test_nothing_that_does_not_count_comes_after_a_verifier_that_does() public {
        vm.expectRevert(
            abi.encodeWithSelector(IToken.WrongPredecessor.selector, address(verifier), address(0))
        );
        token.setVerifier(RECIPIENT);
        try token.setVerifier(address(root16)) {
            check(false, "a contract that is no verifier passed");
        } catch {}
    }

    function test_a_verifier_of_another_token_is_refused_whatever_predecessor_it_names() public {
        Token other = new Token("Other zUSD", "zUSD", 6, address(this));
        Verifier foreign = new Verifier(address(other), 8, address(this), address(verifier));
        bytes memory refusal =
            abi.encodeWithSelector(IToken.VerifierOfAnotherToken.selector, address(foreign));
        vm.expectRevert(refusal);
        token.setVerifier(address(foreign));
        Token fresh = new Token("Fresh zUSD", "zUSD", 6, address(this));
        vm.expectRevert(refusal);
        fresh.setVerifier(address(foreign));
    }

    function test_the_verifier_in_use_can_be_named_again() public {
        token.setVerifier(address(verifier));
        same(token.verifier(), address(verifier), "verifier");
    }

    /// @dev Ready before the token changes over.
    function _successorOf(Verifier old) private returns (Verifier next) {
        next = new Verifier(address(token), 8, address(this), address(old));
        _prepare(next);
        token.setVerifier(address(next));
    }

    /// @dev Proves the root over the first five leaves; later ones lead to the checkpoint.
    function _prepare(Verifier one) private {
        one.setVerifiers(address(root64), withdraw, withdraw, withdraw, withdraw);
        one.setAllowedProver(address(this));
        one.reserveHashChain();
        one.proveTransferRoot(abi.encode(claimOf(0, 5, 64, leaves.length)));
    }

    function _mint(Verifier one, uint256 value) private {
        uint256 before = token.balanceOf(RECIPIENT);
        one.singleTeleport(false, 5, gr, _proof(value));
        leaves.push(ITransferRoots.Transfer(address(0), RECIPIENT, token.balanceOf(RECIPIENT) - before));
    }

    /// @dev Calls a precompile, which would count as the call that is expected to revert: proofs are made before.
    function _hash() private view returns (uint256) {
        bytes32 digest = sha256(abi.encodePacked(gr.chainId, gr.recipient, gr.tweak));
        return (uint256(digest) & type(uint248).max) | (1 << 248);
    }

    function _proof(uint256 value) private view returns (bytes memory) {
        return abi.encode([uint256(1), 2, 3, 4, 5, 6, 7, 8, rootAt(5), _hash(), value]);
    }
}
