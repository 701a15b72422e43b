// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {ITransferRoots} from "../src/interfaces/ITransferRoots.sol";
import {RootStandIn} from "./support/ProofStandIns.sol";
import {RootSpec} from "./support/RootSpec.sol";
import {Vm} from "./support/Spec.sol";

contract TransferRootsTest is RootSpec {
    function testFuzz_a_root_is_proved_over_leaves_up_to_a_reserved_chain(uint64 count) public {
        count = uint64(within(count, 1, 16));
        grow(count);
        verifier.reserveHashChain();
        vm.recordLogs();
        prove(claimOf(0, count, 16, count));
        same(verifier.provedTransferRoots(count), rootAt(count), "root");
        same(verifier.provedHashChains(count), token.hashChain(), "chain");
        same(verifier.latestProvedIndex(), count, "latest");
        check(verifier.isUpToDate(), "up to date");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(logs.length, 1, "events");
        same(logs[0].topics[0], keccak256("TransferRootProved(uint64,uint256)"), "topic");
        same(logs[0].topics[1], bytes32(uint256(count)), "logged index");
        same(logs[0].data, abi.encode(rootAt(count)), "logged root");
    }

    function testFuzz_the_proof_is_asked_about_both_ends_and_the_transfers_between(uint64 first, uint64 second)
        public
    {
        first = uint64(within(first, 1, 15));
        second = uint64(within(second, 1, 16 - first));
        grow(first + second);
        verifier.reserveHashChain();
        prove(claimOf(0, first, 16, first + second));

        uint64 end = first + second;
        uint256 z = uint256(
            keccak256(
                abi.encode(uint256(first), chains[first], rootAt(first), uint256(end), chains[end], rootAt(end))
            )
        ) % FIELD;
        uint256 y = 0;
        for (uint256 i = first; i < end; ++i) {
            uint256[3] memory coefficients =
                [uint256(uint160(leaves[i].from)), uint160(leaves[i].to), leaves[i].value];
            for (uint256 j = 0; j < 3; ++j) y = addmod(mulmod(y, z, FIELD), coefficients[j], FIELD);
        }
        root16.want([uint256(first), rootAt(first), end, rootAt(end), z, y]);
        prove(claimOf(first, second, 16, end));
        root16.want([uint256(first), rootAt(first), end, rootAt(end), z, addmod(y, 1, FIELD)]);
        refuse(claimOf(first, second, 16, end), abi.encodePacked(ITransferRoots.InvalidProof.selector));
    }

    function testFuzz_leaves_after_the_appended_ones_only_lead_to_the_checkpoint(uint64 count, uint256 tail) public {
        count = uint64(within(count, 1, 16));
        tail = within(tail, 0, 40);
        grow(count + tail);
        verifier.reserveHashChain();
        prove(claimOf(0, count, 16, count + tail));
        same(verifier.latestProvedIndex(), count, "latest");
        same(verifier.provedHashChains(count), chains[count], "chain");
        same(verifier.provedTransferRoots(uint64(count + tail)), tail == 0 ? rootAt(count) : 0, "checkpoint");
    }

    function test_chains_on_the_way_are_kept_at_every_64th_leaf_so_that_later_proofs_need_no_tail() public {
        grow(200);
        verifier.reserveHashChain();
        prove(claimOf(0, 16, 16, 200));
        same(verifier.reservedHashChains(64), chains[64], "64");
        same(verifier.reservedHashChains(128), chains[128], "128");
        same(verifier.reservedHashChains(192), chains[192], "192");
        for (uint64 i = 1; i < 200; ++i) check(verifier.reservedHashChains(i) == 0 || i % 64 == 0, "elsewhere");
        same(verifier.latestReservedIndex(), 200, "latest reserved");
        prove(claimOf(16, 48, 64, 64));
        prove(claimOf(64, 64, 64, 128));
        same(verifier.latestProvedIndex(), 128, "latest proved");
    }

    function test_nothing_is_kept_on_the_way_to_a_checkpoint_that_is_not_reached() public {
        grow(130);
        verifier.reserveHashChain();
        ITransferRoots.RootProof memory claim = claimOf(0, 16, 16, 130);
        claim.transfers[129].value += 1;
        vm.recordLogs();
        try verifier.proveTransferRoot(abi.encode(claim)) {
            check(false, "a wrong tail passed");
        } catch {}
        same(verifier.reservedHashChains(64) | verifier.reservedHashChains(128), 0, "kept");
    }

    function test_an_old_root_can_be_continued_again_and_lands_on_the_same_roots() public {
        grow(16);
        verifier.reserveHashChain();
        prove(claimOf(0, 9, 16, 16));
        prove(claimOf(0, 5, 16, 16));
        same(verifier.latestProvedIndex(), 9, "an earlier root is not the latest");
        prove(claimOf(5, 4, 16, 16));
        prove(claimOf(9, 7, 16, 16));
        same(verifier.latestProvedIndex(), 16, "latest");
        check(!verifier.paused(), "paused");
    }

    function test_two_roots_for_the_same_leaves_pause_everything_and_the_first_stays() public {
        grow(3);
        verifier.reserveHashChain();
        prove(claimOf(0, 3, 16, 3));
        ITransferRoots.RootProof memory claim = claimOf(0, 3, 64, 3);
        claim.newRoot = 77;
        vm.recordLogs();
        prove(claim);
        check(verifier.paused(), "not paused");
        same(verifier.provedTransferRoots(3), rootAt(3), "root");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(logs.length, 2, "events");
        same(logs[1].topics[0], keccak256("EmergencyTriggered(uint64,uint256,uint256)"), "topic");
        same(logs[1].topics[1], bytes32(uint256(3)), "logged index");
        same(logs[1].data, abi.encode(rootAt(3), 77), "logged roots");
        refuse(claimOf(0, 3, 16, 3), abi.encodePacked(Pausable.EnforcedPause.selector));
        verifier.deactivateEmergency();
        prove(claimOf(0, 3, 16, 3));
    }

    function test_a_bad_root_is_revoked_while_paused_and_the_right_one_takes_its_place() public {
        grow(3);
        verifier.reserveHashChain();
        ITransferRoots.RootProof memory bad = claimOf(0, 3, 16, 3);
        bad.newRoot = 77;
        prove(bad);
        prove(claimOf(0, 3, 16, 3));
        check(verifier.paused(), "not paused");
        vm.recordLogs();
        verifier.revokeRoot(3);
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("RootRevoked(uint64,uint256)"), "topic");
        same(log.topics[1], bytes32(uint256(3)), "logged index");
        same(log.data, abi.encode(77), "logged root");
        same(verifier.provedTransferRoots(3) | verifier.provedHashChains(3), 0, "forgotten");
        same(verifier.latestProvedIndex(), 0, "latest");
        verifier.deactivateEmergency();
        prove(claimOf(0, 3, 16, 3));
        same(verifier.provedTransferRoots(3), rootAt(3), "the right root");
        same(verifier.latestProvedIndex(), 3, "latest again");
    }

    function testFuzz_the_latest_root_is_the_highest_that_is_left(uint256 first, uint256 second) public {
        grow(30);
        verifier.reserveHashChain();
        uint64[4] memory ends = [uint64(5), 14, 16, 30];
        for (uint256 i = 0; i < ends.length; ++i) {
            uint64 start = i == 0 ? 0 : ends[i - 1];
            prove(claimOf(start, ends[i] - start, 16, 30));
        }
        first = within(first, 0, 3);
        second = within(second, 0, 3);
        vm.assume(first != second);
        verifier.activateEmergency();
        verifier.revokeRoot(ends[first]);
        verifier.revokeRoot(ends[second]);
        uint64 highest = 0;
        for (uint256 i = 0; i < ends.length; ++i) {
            if (i != first && i != second) highest = ends[i];
            same(verifier.provedTransferRoots(ends[i]), i == first || i == second ? 0 : rootAt(ends[i]), "root");
        }
        same(verifier.latestProvedIndex(), highest, "latest");
        same(verifier.provedTransferRoots(0), EMPTY_ROOT, "empty root");
    }

    function test_what_is_no_proved_root_cannot_be_revoked() public {
        verifier.activateEmergency();
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.NoRootToRevoke.selector, 0));
        verifier.revokeRoot(0);
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.NoRootToRevoke.selector, 1));
        verifier.revokeRoot(1);
    }

    function testFuzz_only_the_owner_revokes_and_only_while_paused(address stranger) public {
        vm.assume(stranger != address(this));
        grow(1);
        verifier.reserveHashChain();
        prove(claimOf(0, 1, 16, 1));
        vm.expectRevert(Pausable.ExpectedPause.selector);
        verifier.revokeRoot(1);
        verifier.activateEmergency();
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger));
        verifier.revokeRoot(1);
        same(verifier.provedTransferRoots(1), rootAt(1), "root");
    }

    function testFuzz_only_allowed_provers_prove(address stranger) public {
        vm.assume(stranger != address(this));
        grow(1);
        verifier.reserveHashChain();
        bytes memory proof = abi.encode(claimOf(0, 1, 16, 1));
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.UnauthorizedProver.selector, stranger));
        verifier.proveTransferRoot(proof);
        verifier.setAllowedProver(stranger);
        check(verifier.isAllowedProver(stranger), "allowed");
        vm.prank(stranger);
        verifier.proveTransferRoot(proof);
        verifier.removeAllowedProver(stranger);
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.UnauthorizedProver.selector, stranger));
        verifier.proveTransferRoot(proof);
    }

    function test_a_batch_without_a_verifier_is_refused() public {
        grow(1);
        verifier.reserveHashChain();
        refuse(claimOf(0, 1, 32, 1), abi.encodeWithSelector(ITransferRoots.UnknownBatch.selector, 32));
        refuse(claimOf(0, 1, 0, 1), abi.encodeWithSelector(ITransferRoots.UnknownBatch.selector, 0));
        verifier.removeRootVerifier(16);
        refuse(claimOf(0, 1, 16, 1), abi.encodeWithSelector(ITransferRoots.UnknownBatch.selector, 16));
    }

    function test_a_count_that_does_not_fit_is_refused() public {
        grow(20);
        verifier.reserveHashChain();
        prove(claimOf(0, 10, 16, 20));
        _refuseCount(claimOf(10, 7, 16, 20));
        _refuseCount(claimOf(0, 17, 16, 20));
        ITransferRoots.RootProof memory claim = claimOf(10, 6, 16, 20);
        claim.count = 0;
        _refuseCount(claim);
        claim.count = 11;
        claim.batch = 64;
        _refuseCount(claim);
        claim.count = type(uint64).max;
        _refuseCount(claim);
    }

    function test_a_root_that_is_no_field_element_is_refused() public {
        grow(1);
        verifier.reserveHashChain();
        ITransferRoots.RootProof memory claim = claimOf(0, 1, 16, 1);
        uint256[3] memory bad = [0, FIELD, type(uint256).max];
        for (uint256 i = 0; i < bad.length; ++i) {
            claim.newRoot = bad[i];
            refuse(claim, abi.encodeWithSelector(ITransferRoots.InvalidNewRoot.selector, bad[i]));
        }
    }

    function test_a_root_is_continued_only_where_one_is_proved() public {
        grow(5);
        verifier.reserveHashChain();
        refuse(claimOf(2, 3, 16, 5), abi.encodeWithSelector(ITransferRoots.OldRootZero.selector, 2));
    }

    function test_transfers_must_lead_to_a_reserved_chain() public {
        grow(5);
        verifier.reserveHashChain();
        refuse(
            claimOf(0, 3, 16, 3), abi.encodeWithSelector(ITransferRoots.ReserveHashChainNotFound.selector, 3)
        );
        refuse(
            claimOf(0, 3, 16, 4), abi.encodeWithSelector(ITransferRoots.ReserveHashChainNotFound.selector, 4)
        );
    }

    function testFuzz_a_changed_transfer_is_noticed_wherever_it_is(uint256 which, uint256 field) public {
        grow(24);
        verifier.reserveHashChain();
        ITransferRoots.RootProof memory claim = claimOf(0, 16, 16, 24);
        which %= 24;
        if (field % 3 == 0) claim.transfers[which].from = address(1);
        else if (field % 3 == 1) claim.transfers[which].to = address(1);
        else claim.transfers[which].value += 1;
        uint256 chain = 0;
        for (uint256 i = 0; i < 24; ++i) {
            ITransferRoots.Transfer memory t = claim.transfers[i];
            chain = uint256(sha256(abi.encodePacked(chain, t.from, t.to, t.value))) & type(uint248).max;
        }
        refuse(
            claim,
            abi.encodeWithSelector(ITransferRoots.NewHashChainMismatch.selector, 24, token.hashChain(), chain)
        );
    }

    /// @dev A value and that value plus the field's order are the same coefficient.
    function test_a_value_is_not_replaced_by_one_that_evaluates_alike() public {
        grow(1);
        verifier.reserveHashChain();
        ITransferRoots.RootProof memory claim = claimOf(0, 1, 16, 1);
        claim.transfers[0].value += FIELD;
        refuse(
            claim, abi.encodeWithSelector(ITransferRoots.TransferValueTooLarge.selector, claim.transfers[0].value)
        );
    }

    function test_swapped_transfers_are_noticed() public {
        grow(3);
        verifier.reserveHashChain();
        ITransferRoots.RootProof memory claim = claimOf(0, 3, 16, 3);
        (claim.transfers[0], claim.transfers[1]) = (claim.transfers[1], claim.transfers[0]);
        _refuseChain(claim);
    }

    function test_a_left_out_or_added_transfer_is_noticed_also_where_the_count_leads_to_a_checkpoint() public {
        for (uint256 i = 0; i < 5; ++i) {
            grow(1);
            verifier.reserveHashChain();
        }
        ITransferRoots.RootProof memory claim = claimOf(0, 3, 16, 3);
        claim.transfers = between(1, 4);
        _refuseChain(claim);
        claim.transfers = between(0, 4);
        claim.transfers[3] = leaves[4];
        _refuseChain(claim);
        claim.transfers = between(0, 5);
        (claim.transfers[0], claim.transfers[4]) = (claim.transfers[4], claim.transfers[0]);
        _refuseChain(claim);
    }

    function test_a_chain_goes_on_from_the_old_root_it_belongs_to() public {
        grow(6);
        verifier.reserveHashChain();
        prove(claimOf(0, 2, 16, 6));
        prove(claimOf(0, 4, 16, 6));
        ITransferRoots.RootProof memory claim = claimOf(2, 2, 16, 6);
        claim.transfers = between(0, 4);
        _refuseChain(claim);
        claim = claimOf(4, 2, 16, 6);
        claim.oldIndex = 0;
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.ReserveHashChainNotFound.selector, 2));
        verifier.proveTransferRoot(abi.encode(claim));
    }

    function testFuzz_malformed_bytes_prove_nothing(bytes memory garbage) public {
        grow(1);
        verifier.reserveHashChain();
        try verifier.proveTransferRoot(garbage) {
            check(false, "garbage passed");
        } catch {}
    }

    function testFuzz_an_earlier_chain_is_reserved_by_the_transfers_that_lead_on(uint64 index, address caller) public {
        grow(30);
        index = uint64(within(index, 1, 30));
        verifier.reserveHashChain();
        vm.prank(caller);
        verifier.reserveEarlierHashChain(index, chains[index], between(index, 30));
        same(verifier.reservedHashChains(index), chains[index], "reserved");
        same(verifier.latestReservedIndex(), 30, "latest");
    }

    function testFuzz_an_earlier_chain_that_is_not_the_tokens_is_refused(uint64 index, uint256 wrong) public {
        grow(30);
        index = uint64(within(index, 1, 29));
        vm.assume(wrong != chains[index]);
        verifier.reserveHashChain();
        ITransferRoots.Transfer[] memory rest = between(index, 30);
        try verifier.reserveEarlierHashChain(index, wrong, rest) {
            check(false, "a wrong chain passed");
        } catch (bytes memory reason) {
            same(bytes32(bytes4(reason)), bytes32(ITransferRoots.NewHashChainMismatch.selector), "reason");
        }
    }

    function test_an_earlier_chain_is_bound_to_its_leaf_count() public {
        grow(30);
        verifier.reserveHashChain();
        ITransferRoots.Transfer[] memory rest = between(10, 30);
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.ReserveHashChainNotFound.selector, 31));
        verifier.reserveEarlierHashChain(11, chains[10], rest);
        ITransferRoots.Transfer[] memory all = between(0, 30);
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.ZeroHashChain.selector, 0));
        verifier.reserveEarlierHashChain(0, 0, all);
    }

    function test_a_long_stretch_is_cut_into_pieces_and_proved() public {
        grow(150);
        verifier.reserveHashChain();
        verifier.reserveEarlierHashChain(80, chains[80], between(80, 150));
        verifier.reserveEarlierHashChain(16, chains[16], between(16, 80));
        prove(claimOf(0, 16, 16, 16));
    }

    function test_the_root_decider_is_the_verifier_of_the_largest_batch() public {
        same(verifier.rootDecider(), address(root64), "64");
        RootStandIn huge = new RootStandIn(1 << 15);
        vm.recordLogs();
        verifier.setRootVerifier(address(huge));
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("RootVerifierSet(uint16,address)"), "topic");
        same(log.data, abi.encode(address(huge)), "logged verifier");
        same(verifier.rootDecider(), address(huge), "32768");
        verifier.removeRootVerifier(1 << 15);
        verifier.removeRootVerifier(64);
        same(verifier.rootDecider(), address(root16), "16");
        verifier.removeRootVerifier(16);
        same(verifier.rootDecider(), address(0), "none");
    }

    function testFuzz_only_the_owner_says_who_proves_and_how(address stranger) public {
        vm.assume(stranger != address(this));
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.setAllowedProver(stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.removeAllowedProver(address(this));
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.setRootVerifier(address(root16));
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.removeRootVerifier(16);
    }

    function _refuseChain(ITransferRoots.RootProof memory claim) private {
        try verifier.proveTransferRoot(abi.encode(claim)) {
            check(false, "passed");
        } catch (bytes memory reason) {
            same(bytes32(bytes4(reason)), bytes32(ITransferRoots.NewHashChainMismatch.selector), "reason");
        }
    }

    function _refuseCount(ITransferRoots.RootProof memory claim) private {
        refuse(
            claim,
            abi.encodeWithSelector(
                ITransferRoots.InvalidCount.selector, claim.oldIndex, claim.count, claim.batch
            )
        );
    }
}
