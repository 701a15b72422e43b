// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {IBatchTeleports} from "../src/interfaces/IBatchTeleports.sol";
import {ITeleports} from "../src/interfaces/ITeleports.sol";
import {ITransferRoots} from "../src/interfaces/ITransferRoots.sol";
import {Verifier} from "../src/Verifier.sol";
import {BatchStandIn, WithdrawStandIn} from "./support/ProofStandIns.sol";
import {RootSpec} from "./support/RootSpec.sol";
import {Vm} from "./support/Spec.sol";

contract BatchTeleportsTest is RootSpec {
    uint64 private constant SIZE = 16;
    address private constant RECIPIENT = address(0xBEEF);

    ITeleports.GeneralRecipient private gr;
    BatchStandIn private standIn;

    function setUp() public override {
        super.setUp();
        address withdraw = address(new WithdrawStandIn());
        verifier.setVerifiers(address(root64), address(0), address(0), withdraw, withdraw);
        standIn = new BatchStandIn();
        verifier.setBatchVerifier(address(standIn));
        grow(SIZE);
        verifier.reserveHashChain();
        prove(claimOf(0, SIZE, 16, SIZE));
        gr = ITeleports.GeneralRecipient(uint64(block.chainid), bytes32(uint256(uint160(RECIPIENT))), keccak256("epoch"));
    }

    function test_mints_a_sum_and_goes_on_where_it_ended() public {
        vm.recordLogs();
        _batch(address(1), 0, 10, 300);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(
            logs[1].topics[0],
            keccak256("Teleport(address,uint256,bool,uint64,uint256,(uint64,bytes32,bytes32))"),
            "the same event as of other mints"
        );
        same(logs[1].data, abi.encode(uint256(300), false, SIZE, rootAt(SIZE), gr), "logged data");
        same(logs[0].topics[0], keccak256("BatchCounted(uint256,address,uint48,uint48,uint256)"), "count's topic");
        same(logs[0].topics[1], bytes32(_hash()), "counted hash");
        same(logs[0].topics[2], bytes32(uint256(1)), "submitter");
        same(logs[0].data, abi.encode(uint48(0), uint48(10), uint256(300)), "count's data");
        same(token.balanceOf(RECIPIENT), 300, "first sum");
        _batch(address(1), 10, 16, 50);
        same(token.balanceOf(RECIPIENT), 350, "both sums");
        same(verifier.totalTeleported(_hash()), 350, "total");
        _expectCount(address(1), 16, 350);
    }

    function test_a_count_begins_again_at_zero_and_mints_only_what_is_new() public {
        _batch(address(1), 0, 10, 300);
        // A burn was missed: all are counted again.
        _batch(address(1), 0, 10, 420);
        same(token.balanceOf(RECIPIENT), 420, "only the missed one was added");
        _expectCount(address(1), 10, 420);
    }

    function test_a_count_that_is_not_above_mints_nothing_and_stays() public {
        _batch(address(1), 0, 16, 300);
        uint256 leavesBefore = token.index();
        _batch(address(2), 0, 8, 200);
        same(token.index(), leavesBefore, "no leaf for nothing");
        _expectCount(address(2), 8, 200);
        _batch(address(2), 8, 16, 130);
        same(token.balanceOf(RECIPIENT), 330, "above by thirty");
    }

    function testFuzz_a_proof_goes_on_at_the_checkpoint_of_its_own_submitter(uint48 start) public {
        start = uint48(within(start, 1, 16));
        vm.assume(start != 10);
        _batch(address(1), 0, 10, 300);
        _refuse(address(1), start, 16, 1, abi.encodeWithSelector(IBatchTeleports.WrongStart.selector, 10, start));
        // Dust of somebody else moves no checkpoint but its own.
        _refuse(address(2), 10, 16, 1, abi.encodeWithSelector(IBatchTeleports.WrongStart.selector, 0, 10));
        _batch(address(2), 0, 16, 1);
        _batch(address(1), 10, 16, 5);
        same(token.balanceOf(RECIPIENT), 305, "nothing was stranded");
    }

    function testFuzz_an_end_is_not_above_the_root(uint48 end) public {
        vm.assume(end > SIZE);
        _refuse(address(1), 0, end, 1, abi.encodeWithSelector(IBatchTeleports.EndAboveRoot.selector, SIZE, end));
    }

    function testFuzz_a_root_must_be_proved(uint64 hint) public {
        vm.assume(hint != 0 && hint != SIZE);
        uint256[8] memory proof;
        vm.expectRevert(abi.encodeWithSelector(ITeleports.ExpectedRootZero.selector, hint));
        verifier.batchTeleport(hint, gr, 0, 0, 1, proof);
    }

    function testFuzz_a_mint_for_another_chain_is_refused_here(uint64 chainId) public {
        vm.assume(chainId != block.chainid);
        gr.chainId = chainId;
        _refuse(
            address(1),
            0,
            5,
            1,
            abi.encodeWithSelector(ITeleports.InvalidRecipientChainId.selector, uint64(block.chainid), chainId)
        );
    }

    function testFuzz_a_proof_must_hold_for_what_is_counted(uint256 which, uint256 word) public {
        _batch(address(1), 0, 5, 7);
        uint256[5] memory signals = [rootAt(SIZE), _hash(), uint256(3), uint256(5), uint256(9)];
        uint256[8] memory proof = standIn.proofOf(signals);
        proof[word % 8] += 1;
        _refuseProof(proof);
        which %= 5;
        signals[which] += 1;
        _refuseProof(standIn.proofOf(signals));
        signals[which] -= 1;
        (signals[3], signals[4]) = (signals[4], signals[3]);
        _refuseProof(standIn.proofOf(signals));
    }

    function test_a_proof_must_have_a_verifier() public {
        verifier.setBatchVerifier(address(0));
        _refuse(address(1), 0, 5, 1, abi.encodePacked(IBatchTeleports.BatchVerifierNotSet.selector));
    }

    function test_an_end_is_bound_by_the_root_of_the_proof_and_not_by_the_latest() public {
        grow(4);
        verifier.reserveHashChain();
        prove(claimOf(SIZE, 4, 16, SIZE + 4));
        _refuse(
            address(1),
            0,
            uint48(SIZE) + 1,
            1,
            abi.encodeWithSelector(IBatchTeleports.EndAboveRoot.selector, SIZE, SIZE + 1)
        );
        _batchUnder(SIZE + 4, address(1), 0, uint48(SIZE) + 4, 8);
        same(token.balanceOf(RECIPIENT), 8, "under the later root");
    }

    /// @dev A thief counts what was never burned while a forged root stands. That mints nothing, so nobody sees it.
    function test_revoking_a_root_forgets_what_was_counted_under_it() public {
        grow(4);
        verifier.reserveHashChain();
        prove(claimOf(SIZE, 4, 16, SIZE + 4));
        bytes memory honest = abi.encode([uint256(1), 2, 3, 4, 5, 6, 7, 8, rootAt(SIZE), _hash(), uint256(70)]);
        verifier.singleTeleport(false, SIZE, gr, honest);
        _batchUnder(SIZE + 4, address(1), 0, 10, 70);
        _expectCount(address(1), 10, 70);
        verifier.activateEmergency();
        verifier.revokeRoot(SIZE + 4);
        verifier.deactivateEmergency();
        _expectCount(address(1), 0, 0);
        _refuse(address(1), 10, 16, 70, abi.encodeWithSelector(IBatchTeleports.WrongStart.selector, 0, 10));
        _batch(address(1), 0, 16, 70);
        same(token.balanceOf(RECIPIENT), 70, "nothing is minted that was not burned");
    }

    function test_replacing_the_verifier_forgets_what_the_last_one_let_through() public {
        _batch(address(1), 0, 10, 300);
        address other = address(new BatchStandIn());
        vm.recordLogs();
        verifier.setBatchVerifier(other);
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("BatchVerifierSet(address)"), "topic");
        same(log.data, abi.encode(other), "logged verifier");
        _expectCount(address(1), 0, 0);
        _batch(address(1), 0, 16, 310);
        same(token.balanceOf(RECIPIENT), 310, "what was minted stays booked");
    }

    function test_a_range_never_ends_before_it_begins() public {
        _batch(address(1), 0, 10, 300);
        _refuse(address(1), 10, 9, 1, abi.encodeWithSelector(IBatchTeleports.StartAboveEnd.selector, 10, 9));
        _expectCount(address(1), 10, 300);
        _batch(address(1), 10, 10, 0);
    }

    function test_counts_of_two_recipient_hashes_are_apart() public {
        _batch(address(1), 0, 10, 300);
        gr.tweak = keccak256("another epoch");
        _expectCount(address(1), 0, 0);
        _refuse(address(1), 10, 16, 1, abi.encodeWithSelector(IBatchTeleports.WrongStart.selector, 0, 10));
        _batch(address(1), 0, 16, 5);
        same(token.balanceOf(RECIPIENT), 305, "each has its own sum");
    }

    function testFuzz_a_count_that_cannot_be_kept_is_refused(uint256 value) public {
        value = within(value, uint256(type(uint208).max) + 1, type(uint248).max);
        _refuse(address(1), 0, 5, value, abi.encodeWithSelector(IBatchTeleports.CountTooLarge.selector, value));
        _batch(address(1), 0, 5, type(uint208).max);
        _refuse(
            address(1),
            5,
            6,
            1,
            abi.encodeWithSelector(IBatchTeleports.CountTooLarge.selector, uint256(type(uint208).max) + 1)
        );
    }

    function test_a_pause_stops_batches_and_only_the_owner_names_their_verifier() public {
        vm.prank(address(7));
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, address(7)));
        verifier.setBatchVerifier(address(7));
        verifier.activateEmergency();
        _refuse(address(1), 0, 5, 1, abi.encodePacked(Pausable.EnforcedPause.selector));
    }

    function test_a_successor_counts_from_zero_and_mints_nothing_again() public {
        _batch(address(1), 0, 10, 300);
        Verifier next = new Verifier(address(token), 8, address(this), address(verifier));
        token.setVerifier(address(next));
        next.setBatchVerifier(address(standIn));
        next.setRootVerifier(address(root64));
        next.setAllowedProver(address(this));
        next.reserveHashChain();
        // The first mint is a leaf of its own.
        leaves.push(ITransferRoots.Transfer(address(0), RECIPIENT, 300));
        next.proveTransferRoot(abi.encode(claimOf(0, 17, 64, 17)));
        verifier = next;
        uint256[8] memory proof = _proof(17, 10, 17, 1);
        vm.expectRevert(abi.encodeWithSelector(IBatchTeleports.WrongStart.selector, 0, 10));
        vm.prank(address(1));
        next.batchTeleport(17, gr, 10, 17, 1, proof);
        _batchUnder(17, address(1), 0, 16, 300);
        same(token.balanceOf(RECIPIENT), 300, "nothing again");
        _batchUnder(17, address(1), 16, 17, 9);
        same(token.balanceOf(RECIPIENT), 309, "only what is new");
    }

    /// @dev Honest proofs in any order: of one leaf or of many, by several submitters, with burns left out, counted
    /// again, or arriving late.
    function testFuzz_no_order_of_proofs_mints_too_much_or_strands_anything(uint256 seed) public {
        uint256[] memory burns = new uint256[](SIZE);
        uint256 burned = 0;
        for (uint256 step = 0; step < 40; ++step) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 at = (seed >> 8) % SIZE;
            uint256 kind = seed % 4;
            if (kind == 0 && burns[at] == 0) {
                burns[at] = 1 + (seed >> 16) % 1000;
                burned += burns[at];
            } else if (kind == 1 && burns[at] > verifier.totalTeleported(_hash())) {
                bytes memory proof = abi.encode([uint256(1), 2, 3, 4, 5, 6, 7, 8, rootAt(SIZE), _hash(), burns[at]]);
                verifier.singleTeleport(false, SIZE, gr, proof);
            } else {
                _batchOfSome(burns, seed);
            }
            check(token.balanceOf(RECIPIENT) <= burned, "no more is minted than burned");
        }
        _batch(address(9), 0, uint48(SIZE), burned);
        same(token.balanceOf(RECIPIENT), burned, "all was minted");
    }

    /// @dev Some of the burns between a start that is allowed and any end.
    function _batchOfSome(uint256[] memory burns, uint256 seed) private {
        address submitter = address(uint160(1 + (seed >> 24) % 3));
        (uint48 checkpoint,) = verifier.batchCount(_hash(), submitter);
        uint48 start = (seed >> 32) % 3 == 0 ? 0 : checkpoint;
        uint48 end = start + uint48((seed >> 40) % (SIZE - start + 1));
        uint256 sum = 0;
        for (uint256 i = start; i < end; ++i) {
            if ((seed >> (64 + i)) % 4 != 0) sum += burns[i];
        }
        _batch(submitter, start, end, sum);
    }

    function _hash() private view returns (uint256) {
        bytes32 digest = sha256(abi.encodePacked(gr.chainId, gr.recipient, gr.tweak));
        return (uint256(digest) & type(uint248).max) | (1 << 248);
    }

    /// @dev Made before a call that is pranked or expected to revert, because it is a call by itself.
    function _proof(uint64 size, uint48 start, uint48 end, uint256 value) private view returns (uint256[8] memory) {
        return standIn.proofOf([rootAt(size), _hash(), value, start, end]);
    }

    function _batch(address submitter, uint48 start, uint48 end, uint256 value) private {
        _batchUnder(SIZE, submitter, start, end, value);
    }

    function _batchUnder(uint64 size, address submitter, uint48 start, uint48 end, uint256 value) private {
        uint256[8] memory proof = _proof(size, start, end, value);
        vm.prank(submitter);
        verifier.batchTeleport(size, gr, start, end, value, proof);
    }

    function _refuse(address submitter, uint48 start, uint48 end, uint256 value, bytes memory reason) private {
        uint256[8] memory proof = _proof(SIZE, start, end, value);
        vm.expectRevert(reason);
        vm.prank(submitter);
        verifier.batchTeleport(SIZE, gr, start, end, value, proof);
    }

    /// @dev Of three units between five and nine, by the first submitter.
    function _refuseProof(uint256[8] memory proof) private {
        vm.expectRevert(ITransferRoots.InvalidProof.selector);
        vm.prank(address(1));
        verifier.batchTeleport(SIZE, gr, 5, 9, 3, proof);
    }

    function _expectCount(address submitter, uint48 checkpoint, uint208 counted) private view {
        (uint48 at, uint208 sum) = verifier.batchCount(_hash(), submitter);
        same(at, checkpoint, "checkpoint");
        same(sum, counted, "counted");
    }
}
