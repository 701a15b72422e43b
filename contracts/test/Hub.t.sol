// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {Hub} from "../src/Hub.sol";
import {IHub} from "../src/interfaces/IHub.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Poseidon} from "../src/libraries/Poseidon.sol";
import {Spec, Vm} from "./support/Spec.sol";
import {VerifierStandIn} from "./support/VerifierStandIn.sol";

contract HubTest is Spec {
    address private constant TOKEN = address(0x70CE4);

    Hub private hub;

    function setUp() public {
        hub = new Hub(address(this));
    }

    function testFuzz_a_registered_token_is_found_by_position_and_endpoint(uint64 chainId, uint32 eid) public {
        vm.assume(chainId != 0 && chainId != 1 && chainId != block.chainid);
        hub.registerToken(IHub.TokenInfo(1, ~eid, address(3), address(4)));
        vm.recordLogs();
        hub.registerToken(IHub.TokenInfo(chainId, eid, address(1), address(2)));

        same(hub.eidToPosition(eid), 2, "position");
        (uint64 storedChain, uint32 storedEid, address verifier, address token) = hub.tokenInfos(1);
        same(storedChain, chainId, "chain id");
        same(storedEid, eid, "eid");
        same(verifier, address(1), "verifier");
        same(token, address(2), "token");
        IHub.TokenInfo[] memory infos = hub.getTokenInfos();
        same(infos.length, 2, "count");
        same(infos[1].token, address(2), "listed token");

        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("TokenRegistered(uint32,uint256,uint64,address,address)"), "topic");
        same(log.topics[1], bytes32(uint256(eid)), "logged eid");
        same(log.topics[2], bytes32(uint256(1)), "logged index");
        same(log.data, abi.encode(chainId, address(2), address(1)), "logged data");
    }

    function test_an_endpoint_is_registered_once() public {
        hub.registerToken(_info(7));
        vm.expectRevert(abi.encodeWithSelector(IHub.TokenAlreadyRegistered.selector, uint32(7)));
        hub.registerToken(_info(7));
    }

    function test_takes_as_many_tokens_as_the_tree_has_leaves() public {
        uint32 leaves = uint32(hub.MAX_LEAVES());
        same(leaves, 64, "leaves");
        for (uint32 eid = 0; eid < leaves; ++eid) hub.registerToken(_info(eid));
        vm.expectRevert(IHub.HubCapacityReached.selector);
        hub.registerToken(_info(leaves));
    }

    function test_incomplete_entries_are_refused() public {
        vm.expectRevert(IHub.InvalidChainId.selector);
        hub.registerToken(IHub.TokenInfo(0, 1, address(1), address(2)));
        vm.expectRevert(IHub.ZeroVerifier.selector);
        hub.registerToken(IHub.TokenInfo(1, 1, address(0), address(2)));
        vm.expectRevert(IHub.ZeroToken.selector);
        hub.registerToken(IHub.TokenInfo(1, 1, address(1), address(0)));
    }

    function testFuzz_only_the_owner_registers(address stranger) public {
        vm.assume(stranger != address(this));
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        hub.registerToken(_info(1));
        vm.prank(stranger);
        vm.expectRevert(refusal);
        hub.updateToken(_info(1));
    }

    function test_knows_the_roots_of_empty_trees() public view {
        uint256[7] memory known = [
            0,
            0x2098f5fb9e239eab3ceac3f27b81e481dc3124d55ffed523a839ee8446b64864,
            0x1069673dcdb12263df301a6ff584a7ec261a44cb9dc68df067a4774460b1f1e1,
            0x18f43331537ee2af2e3d758d50f72106467c6eea50371dd528d57eb2b856d238,
            0x07f9d837cb17b0d36320ffe93ba52345f1b728571a568265caac97559dbc952a,
            0x2b94cf5e8746b3f5c9631f4c5df32907a699c58c94b2ad4d7b5cec1639183f55,
            0x2dee93c5a666459646ea7d22cca9e1bcfed71e6951b953611d11dda32ea09d78
        ];
        for (uint256 i = 0; i < known.length; ++i) same(hub.zeroHash(i), known[i], "zero hash");
    }

    function testFuzz_a_chain_has_one_token_because_a_burn_names_no_more_than_the_chain(
        uint64 chainId,
        address verifier,
        address token
    ) public {
        vm.assume(chainId != 0 && chainId != 2 && chainId != block.chainid);
        vm.assume(verifier != address(0) && token != address(0));
        hub.registerToken(IHub.TokenInfo(chainId, 1, address(3), address(4)));
        hub.registerToken(IHub.TokenInfo(2, 2, address(3), address(4)));
        bytes memory refusal = abi.encodeWithSelector(IHub.ChainAlreadyRegistered.selector, chainId);
        vm.expectRevert(refusal);
        hub.registerToken(IHub.TokenInfo(chainId, 3, verifier, token));
        vm.expectRevert(refusal);
        hub.updateToken(IHub.TokenInfo(chainId, 2, verifier, token));
        same(hub.getTokenInfos().length, 2, "entries");
        same(hub.eidToPosition(3), 0, "position of what was refused");
        (uint64 storedChain,,,) = hub.tokenInfos(1);
        same(storedChain, 2, "chain of the entry that was not updated");

        hub.updateToken(IHub.TokenInfo(chainId, 1, verifier, token));
        hub.updateToken(IHub.TokenInfo(3, 1, verifier, token));
        hub.updateToken(IHub.TokenInfo(chainId == 3 ? 4 : chainId, 2, verifier, token));
    }

    function test_an_entry_is_replaced_and_its_leaf_emptied() public {
        VerifierStandIn old = _registered(1);
        old.relay(hub, 77, 5);
        VerifierStandIn next = _successorOf(old);
        vm.recordLogs();
        hub.updateToken(_here(1, next));
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("TokenUpdated(uint32,uint256,uint64,address,address)"), "topic");
        (uint256[] memory roots, uint64[] memory indices) = hub.getTransferRootsAndIndices();
        same(roots[0] + indices[0], 0, "leaf");
        vm.expectRevert(abi.encodeWithSelector(IHub.UnknownVerifier.selector, address(old)));
        old.relay(hub, 78, 6);
        next.relay(hub, 78, 6);
        same(hub.transferRoots(0), 78, "root");
        vm.expectRevert(abi.encodeWithSelector(IHub.TokenNotRegistered.selector, 9));
        hub.updateToken(_here(9, next));
    }

    function test_a_verifier_on_this_chain_names_the_last_one_as_its_predecessor() public {
        VerifierStandIn old = _registered(1);
        VerifierStandIn next = _successorOf(old);
        VerifierStandIn other = _successorOf(old);
        VerifierStandIn stranger = new VerifierStandIn(TOKEN, address(0));
        bytes memory refusal =
            abi.encodeWithSelector(IHub.WrongPredecessor.selector, address(old), address(0));
        vm.expectRevert(refusal);
        hub.updateToken(_here(1, stranger));
        hub.updateToken(_here(1, old));
        hub.updateToken(_here(1, next));
        vm.expectRevert(
            abi.encodeWithSelector(IHub.WrongPredecessor.selector, address(next), address(old))
        );
        hub.updateToken(_here(1, other));
        vm.expectRevert(abi.encodeWithSelector(IHub.WrongPredecessor.selector, address(next), address(0)));
        hub.updateToken(_here(1, old));
    }

    function test_the_last_verifier_of_this_chain_is_known_after_its_entry_moved_away() public {
        VerifierStandIn old = _registered(1);
        hub.updateToken(IHub.TokenInfo(uint64(block.chainid) + 1, 1, address(3), address(4)));
        VerifierStandIn stranger = new VerifierStandIn(TOKEN, address(0));
        vm.expectRevert(abi.encodeWithSelector(IHub.WrongPredecessor.selector, address(old), address(0)));
        hub.registerToken(_here(2, stranger));
        hub.registerToken(_here(2, _successorOf(old)));
    }

    function test_a_verifier_on_this_chain_is_that_of_the_token_it_is_registered_with() public {
        VerifierStandIn one = new VerifierStandIn(TOKEN, address(0));
        vm.expectRevert(abi.encodeWithSelector(IHub.WrongToken.selector, address(4), TOKEN));
        hub.registerToken(IHub.TokenInfo(uint64(block.chainid), 1, address(one), address(4)));
    }

    function test_roots_come_from_registered_verifiers_of_this_chain() public {
        _registered(1);
        hub.registerToken(IHub.TokenInfo(uint64(block.chainid) + 1, 2, address(4), address(5)));
        address[3] memory strangers = [address(this), address(4), TOKEN];
        for (uint256 i = 0; i < strangers.length; ++i) {
            vm.prank(strangers[i]);
            vm.expectRevert(abi.encodeWithSelector(IHub.UnknownVerifier.selector, strangers[i]));
            hub.updateTransferRoot(1, 1);
        }
    }

    function test_a_root_that_is_no_field_element_is_refused() public {
        VerifierStandIn one = _registered(1);
        vm.expectRevert(abi.encodeWithSelector(IHub.InvalidTransferRoot.selector, Bn254.GROUP_ORDER));
        one.relay(hub, Bn254.GROUP_ORDER, 1);
    }

    function test_a_verifier_empties_its_own_leaf_and_nobody_elses() public {
        VerifierStandIn one = _registered(1);
        one.relay(hub, 77, 5);
        hub.clearTransferRoot();
        _successorOf(one).clear(hub);
        same(hub.transferRoots(0), 77, "emptied by a stranger");
        hub.broadcast(new uint32[](0), "");
        one.clear(hub);
        same(hub.transferRoots(0) + hub.transferTreeIndices(0), 0, "leaf");
        check(!hub.isUpToDate(), "the aggregation root still has the leaf");
    }

    function test_nothing_of_a_paused_verifier_enters_an_aggregation() public {
        VerifierStandIn one = _registered(1);
        one.relay(hub, 77, 5);
        one.setPaused(true);
        hub.broadcast(new uint32[](0), "");
        same(hub.transferRoots(0), 0, "leaf");
        same(hub.aggregationRoot(), hub.zeroHash(6), "an empty tree");

        one.setPaused(false);
        one.relay(hub, 77, 5);
        hub.broadcast(new uint32[](0), "");
        same(hub.transferRoots(0), 77, "leaf that came back");
        one.setPaused(true);
        hub.broadcast(_only(1), "");
        same(hub.aggSeq(), 3, "made again although nothing arrived");
        same(one.root(), hub.zeroHash(6), "what the verifier is given");
    }

    function test_a_root_that_its_verifier_disowned_enters_no_aggregation() public {
        VerifierStandIn one = _registered(1);
        one.relay(hub, 77, 5);
        hub.broadcast(_only(1), "");
        one.disown(5);
        hub.broadcast(_only(1), "");
        same(one.aggSeq(), 2, "sequence");
        same(one.root(), hub.zeroHash(6), "what the verifier is given");
    }

    function test_a_relayed_root_reaches_the_verifier_as_a_leaf_of_the_aggregation_root() public {
        VerifierStandIn listener = _registered(1);
        check(hub.isUpToDate(), "nothing arrived yet");
        vm.recordLogs();
        listener.relay(hub, 77, 5);
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(log.topics[0], keccak256("TransferRootUpdated(uint32,uint256,uint256)"), "topic");
        same(log.topics[1], bytes32(uint256(1)), "logged eid");
        same(log.topics[2], bytes32(0), "logged position");
        check(!hub.isUpToDate(), "a root arrived");

        uint32[] memory eids = _only(1);
        vm.recordLogs();
        hub.broadcast(eids, "");
        uint256[] memory constants = Poseidon.roundConstants();
        uint256 root = Poseidon.hash(constants, 77, 0);
        for (uint256 i = 1; i < 6; ++i) root = Poseidon.hash(constants, root, hub.zeroHash(i));
        same(hub.aggregationRoot(), root, "aggregation root");
        same(listener.root(), root, "broadcast root");
        same(listener.aggSeq(), 1, "sequence");
        check(hub.isUpToDate(), "up to date again");
        log = vm.getRecordedLogs()[0];
        same(
            log.topics[0], keccak256("AggregationRootUpdated(uint256,uint64,uint256[],uint64[])"), "topic"
        );
        same(log.topics[1], bytes32(root), "logged root");
        (uint256[] memory roots, uint64[] memory indices) = hub.getTransferRootsAndIndices();
        same(log.data, abi.encode(roots, indices), "logged snapshot");

        hub.broadcast(eids, "");
        same(hub.aggSeq(), 1, "nothing changed, no new sequence number");
        same(listener.calls(), 2, "but sent again");
        same(hub.quoteBroadcast(eids, ""), 0, "fee");
    }

    function testFuzz_the_aggregation_root_is_that_of_a_full_tree(uint256 count, uint256 seed) public {
        _aggregate(within(count, 1, 7), seed);
    }

    function test_the_aggregation_root_covers_all_64_leaves() public {
        _aggregate(64, 1);
    }

    function test_nothing_is_sent_to_unknown_endpoints_or_other_chains() public {
        hub.registerToken(IHub.TokenInfo(uint64(block.chainid) + 1, 2, address(4), address(5)));
        vm.expectRevert(abi.encodeWithSelector(IHub.OtherChain.selector, 2));
        hub.broadcast(_only(2), "");
        vm.expectRevert(abi.encodeWithSelector(IHub.TokenNotRegistered.selector, 3));
        hub.broadcast(_only(3), "");
    }

    function test_poseidon_gives_the_hashes_of_other_implementations() public pure {
        uint256[] memory constants = Poseidon.roundConstants();
        same(
            Poseidon.hash(constants, 1, 2),
            0x115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189a,
            "small numbers"
        );
        same(
            Poseidon.hash(constants, 123456789, 1000),
            0x29003649e4aafd1d71eef6edfdb6a783e209d5b323a0da5aa16cdc9437cc266a,
            "larger numbers"
        );
    }

    /// @dev Every chain has one leaf, so the test goes from chain to chain, which no root can do.
    function _aggregate(uint256 count, uint256 seed) private {
        uint256[] memory level = new uint256[](64);
        VerifierStandIn last;
        for (uint256 i = 0; i < count; ++i) {
            vm.chainId(i + 1);
            last = i == 0 ? _registered(0) : _successorOf(last);
            if (i > 0) hub.registerToken(_here(uint32(i), last));
            level[i] = uint256(keccak256(abi.encode(seed, i))) % Bn254.GROUP_ORDER;
            last.relay(hub, level[i], 1);
        }
        hub.broadcast(new uint32[](0), "");
        uint256[] memory constants = Poseidon.roundConstants();
        for (uint256 width = 32; width > 0; width /= 2) {
            for (uint256 i = 0; i < width; ++i) {
                level[i] = Poseidon.hash(constants, level[2 * i], level[2 * i + 1]);
            }
        }
        same(hub.aggregationRoot(), level[0], "root");
    }

    function _registered(uint32 eid) private returns (VerifierStandIn verifier) {
        verifier = new VerifierStandIn(TOKEN, address(0));
        hub.registerToken(_here(eid, verifier));
    }

    function _successorOf(VerifierStandIn old) private returns (VerifierStandIn) {
        return new VerifierStandIn(TOKEN, address(old));
    }

    function _here(uint32 eid, VerifierStandIn verifier) private view returns (IHub.TokenInfo memory) {
        return IHub.TokenInfo(uint64(block.chainid), eid, address(verifier), TOKEN);
    }

    function _only(uint32 eid) private pure returns (uint32[] memory eids) {
        eids = new uint32[](1);
        eids[0] = eid;
    }

    function _info(uint32 eid) private pure returns (IHub.TokenInfo memory) {
        return IHub.TokenInfo(uint64(1e6) + eid, eid, address(uint160(eid) + 1), address(uint160(eid) + 1000));
    }
}
