// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {Hub} from "../src/Hub.sol";
import {IRootVerifier} from "../src/interfaces/IGroth16.sol";
import {ITransferRoots} from "../src/interfaces/ITransferRoots.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {Token} from "../src/Token.sol";
import {Verifier} from "../src/Verifier.sol";
import {RootStandIn} from "./support/ProofStandIns.sol";
import {Spec, Vm} from "./support/Spec.sol";

contract VerifierTest is Spec {
    address private constant ALICE = address(0xA11CE);
    address private constant SOME = address(0x50);

    Token private token;
    Verifier private verifier;

    function setUp() public {
        token = new Token("Test zUSD", "zUSD", 6, address(this));
        token.setMinter(address(this));
        verifier = new Verifier(address(token), 8, address(this), address(0));
    }

    function test_starts_with_the_empty_root_proved_at_index_zero() public view {
        same(verifier.token(), address(token), "token");
        same(
            verifier.provedTransferRoots(0),
            0x1334fa4b552f00ef403361c935c1abcf896851003c40daa93bb0fd0a0bb9a881,
            "empty root"
        );
        same(verifier.latestProvedIndex(), 0, "latest proved");
        same(verifier.latestReservedIndex(), 0, "latest reserved");
        same(verifier.totalTeleported(1), 0, "teleported");
        same(verifier.powBits(), 8, "proof-of-work bits");
        same(verifier.treeHeight(), 40, "tree height");
        check(!verifier.paused(), "paused");
    }

    function test_an_empty_token_cannot_be_reserved() public {
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.ZeroHashChain.selector, uint64(0)));
        verifier.reserveHashChain();
    }

    function testFuzz_anyone_reserves_the_chain_of_the_token(uint256 leaves, address caller) public {
        leaves = within(leaves, 1, 20);
        for (uint256 i = 0; i < leaves; ++i) token.mint(ALICE, i + 1);
        vm.recordLogs();
        vm.prank(caller);
        (uint64 index, uint256 chain) = verifier.reserveHashChain();
        same(index, leaves, "index");
        same(chain, token.hashChain(), "chain");
        same(verifier.reservedHashChains(index), chain, "reserved");
        same(verifier.latestReservedIndex(), index, "latest");
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("HashChainReserved(uint64,uint256)"), "topic");
        same(log.topics[1], bytes32(leaves), "logged index");
        same(log.data, abi.encode(chain), "logged chain");
    }

    function test_is_up_to_date_only_while_no_leaf_is_unproved() public {
        check(verifier.isUpToDate(), "empty token");
        token.mint(ALICE, 1);
        check(!verifier.isUpToDate(), "one unproved leaf");
    }

    function test_a_pause_does_not_stop_reserving() public {
        token.mint(ALICE, 1);
        verifier.activateEmergency();
        check(verifier.paused(), "not paused");
        verifier.reserveHashChain();
        verifier.deactivateEmergency();
        check(!verifier.paused(), "paused");
    }

    function testFuzz_only_the_owner_pauses(address stranger) public {
        vm.assume(stranger != address(this));
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.activateEmergency();
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.deactivateEmergency();
    }

    function test_all_verifiers_but_those_of_batches_are_needed() public {
        address root = address(new RootStandIn(64));
        vm.expectRevert(IVerifier.ZeroAddress.selector);
        verifier.setVerifiers(address(0), SOME, SOME, SOME, SOME);
        vm.expectRevert(IVerifier.ZeroAddress.selector);
        verifier.setVerifiers(root, SOME, SOME, address(0), SOME);
        vm.expectRevert(IVerifier.ZeroAddress.selector);
        verifier.setVerifiers(root, SOME, SOME, SOME, address(0));
        verifier.setVerifiers(root, address(0), address(0), SOME, SOME);
    }

    function test_the_owner_sets_all_verifiers_at_once() public {
        address root = address(new RootStandIn(64));
        vm.recordLogs();
        verifier.setVerifiers(root, address(1), address(2), address(3), address(4));
        same(verifier.rootDecider(), root, "root decider");
        same(verifier.rootVerifiers(64), root, "root verifier of its size");
        same(verifier.withdrawGlobalDecider(), address(1), "global decider");
        same(verifier.withdrawLocalDecider(), address(2), "local decider");
        same(verifier.singleWithdrawGlobalVerifier(), address(3), "global verifier");
        same(verifier.singleWithdrawLocalVerifier(), address(4), "local verifier");
        Vm.Log memory log = vm.getRecordedLogs()[1];
        same(log.topics[0], keccak256("VerifiersSet(address,address,address,address,address)"), "topic");
        same(log.data, abi.encode(root, address(1), address(2), address(3), address(4)), "logged data");
    }

    function test_there_is_something_to_relay_only_with_a_proved_root_and_a_hub() public {
        vm.expectRevert(IVerifier.NoProvedRoot.selector);
        verifier.relayTransferRoot("");
        _proveOneLeaf();
        vm.expectRevert(IVerifier.HubNotSet.selector);
        verifier.relayTransferRoot("");
        (uint256 nativeFee, uint256 lzTokenFee) = verifier.quoteRelay("");
        same(nativeFee + lzTokenFee, 0, "fees");
    }

    function test_a_pause_stops_relaying() public {
        _proveOneLeaf();
        verifier.activateEmergency();
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.relayTransferRoot("");
    }

    function testFuzz_only_the_hub_saves_aggregation_roots(address stranger, uint256 root, uint64 aggSeq) public {
        vm.assume(stranger != SOME);
        verifier.setHub(SOME);
        same(verifier.hub(), SOME, "hub");
        vm.prank(stranger);
        vm.expectRevert(IVerifier.OnlyHub.selector);
        verifier.saveGlobalRoot(root, aggSeq);
        vm.recordLogs();
        vm.prank(SOME);
        verifier.saveGlobalRoot(root, aggSeq);
        same(verifier.globalTransferRoots(aggSeq), root, "root");
        same(verifier.latestAggSeq(), aggSeq, "latest");
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("GlobalRootSaved(uint64,uint256)"), "topic");
        same(log.topics[1], bytes32(uint256(aggSeq)), "logged sequence");
        same(log.data, abi.encode(root), "logged root");
    }

    function test_without_a_hub_nobody_is_the_hub() public {
        vm.prank(address(1));
        vm.expectRevert(IVerifier.OnlyHub.selector);
        verifier.saveGlobalRoot(1, 1);
    }

    function test_an_older_aggregation_root_is_not_the_latest() public {
        verifier.setHub(address(this));
        verifier.saveGlobalRoot(7, 2);
        verifier.saveGlobalRoot(6, 1);
        same(verifier.latestAggSeq(), 2, "latest");
        same(verifier.globalTransferRoots(1), 6, "older root");
    }

    function testFuzz_a_revoked_aggregation_root_does_not_come_back(uint256 root, uint64 aggSeq) public {
        verifier.setHub(address(this));
        verifier.saveGlobalRoot(root, aggSeq);
        vm.expectRevert(Pausable.ExpectedPause.selector);
        verifier.revokeGlobalRoot(aggSeq);
        verifier.activateEmergency();
        vm.prank(SOME);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, SOME));
        verifier.revokeGlobalRoot(aggSeq);
        vm.recordLogs();
        verifier.revokeGlobalRoot(aggSeq);
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("GlobalRootRevoked(uint64,uint256)"), "topic");
        same(log.topics[1], bytes32(uint256(aggSeq)), "logged sequence");
        same(log.data, abi.encode(root), "logged root");
        same(verifier.globalTransferRoots(aggSeq), 0, "root");
        check(verifier.isGlobalRootRevoked(aggSeq), "not revoked");
        verifier.deactivateEmergency();
        vm.expectRevert(abi.encodeWithSelector(IVerifier.RevokedGlobalRoot.selector, aggSeq));
        verifier.saveGlobalRoot(root, aggSeq);
        unchecked {
            verifier.saveGlobalRoot(root, aggSeq + 1);
        }
    }

    function testFuzz_a_revoked_root_takes_all_aggregation_roots_so_far_with_it(uint64 latest, uint64 asked) public {
        _proveOneLeaf();
        verifier.setHub(address(new Hub(address(this))));
        vm.prank(verifier.hub());
        verifier.saveGlobalRoot(7, latest);
        verifier.activateEmergency();
        vm.recordLogs();
        verifier.revokeRoot(1);
        Vm.Log memory log = vm.getRecordedLogs()[1];
        same(log.topics[0], keccak256("GlobalRootsRevoked(uint64)"), "topic");
        same(log.topics[1], bytes32(uint256(latest)), "logged sequence");
        verifier.deactivateEmergency();
        same(verifier.globalTransferRoots(latest), 0, "root");
        check(verifier.isGlobalRootRevoked(asked) == (asked <= latest), "revoked");
        address hub = verifier.hub();
        if (asked <= latest) {
            vm.expectRevert(abi.encodeWithSelector(IVerifier.RevokedGlobalRoot.selector, asked));
        }
        vm.prank(hub);
        verifier.saveGlobalRoot(8, asked);
        same(verifier.globalTransferRoots(asked), asked <= latest ? 0 : 8, "root that came later");
    }

    function test_a_hub_that_cannot_empty_its_leaf_must_be_unlinked_before_a_root_is_revoked() public {
        _proveOneLeaf();
        verifier.setHub(address(new RootStandIn(16)));
        verifier.activateEmergency();
        try verifier.revokeRoot(1) {
            check(false, "the hub kept its leaf");
        } catch {}
        verifier.setHub(address(0));
        verifier.revokeRoot(1);
        same(verifier.provedTransferRoots(1), 0, "root");
    }

    function test_no_aggregation_root_arrives_while_paused() public {
        verifier.setHub(address(this));
        verifier.activateEmergency();
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.saveGlobalRoot(7, 1);
    }

    function testFuzz_batches_are_powers_of_two_so_that_all_can_be_found(uint16 batch) public {
        address root = address(new RootStandIn(batch));
        bool powerOfTwo = batch != 0 && batch & (batch - 1) == 0;
        if (!powerOfTwo) vm.expectRevert(abi.encodeWithSelector(IRootVerifier.InvalidBatch.selector, batch));
        verifier.setRootVerifier(root);
        same(verifier.rootVerifiers(batch), powerOfTwo ? root : address(0), "root verifier");
    }

    function test_nobody_renounces_a_paused_verifier() public {
        verifier.activateEmergency();
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.renounceOwnership();
        same(verifier.owner(), address(this), "owner");
        verifier.deactivateEmergency();
        verifier.renounceOwnership();
        same(verifier.owner(), address(0), "owner after");
    }

    function test_token_verifier_and_hub_change_owner_only_when_the_new_one_accepts() public {
        Ownable2Step[3] memory owned = [Ownable2Step(token), verifier, new Hub(address(this))];
        for (uint256 i = 0; i < owned.length; ++i) {
            owned[i].transferOwnership(SOME);
            same(owned[i].owner(), address(this), "owner before");
            vm.prank(ALICE);
            vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, ALICE));
            owned[i].acceptOwnership();
            vm.prank(SOME);
            owned[i].acceptOwnership();
            same(owned[i].owner(), SOME, "owner after");
        }
    }

    function testFuzz_only_the_owner_links_the_hub_and_sets_verifiers(address stranger) public {
        vm.assume(stranger != address(this));
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.setHub(stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        verifier.setVerifiers(SOME, SOME, SOME, SOME, SOME);
    }

    function _proveOneLeaf() private {
        token.mint(ALICE, 1);
        verifier.reserveHashChain();
        verifier.setRootVerifier(address(new RootStandIn(16)));
        verifier.setAllowedProver(address(this));
        ITransferRoots.Transfer[] memory transfers = new ITransferRoots.Transfer[](1);
        transfers[0] = ITransferRoots.Transfer(address(0), ALICE, 1);
        uint256[8] memory proof;
        verifier.proveTransferRoot(abi.encode(ITransferRoots.RootProof(0, 1, 16, 7, transfers, proof)));
    }

    function test_needs_a_token() public {
        vm.expectRevert(IVerifier.ZeroToken.selector);
        new Verifier(address(0), 8, address(this), address(0));
    }
}
