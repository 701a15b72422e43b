// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {Hub} from "../src/Hub.sol";
import {IHub} from "../src/interfaces/IHub.sol";
import {Spec, Vm} from "./support/Spec.sol";

contract HubTest is Spec {
    Hub private hub;

    function setUp() public {
        hub = new Hub(address(this));
    }

    function testFuzz_a_registered_token_is_found_by_position_and_endpoint(uint64 chainId, uint32 eid) public {
        vm.assume(chainId != 0);
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
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger));
        hub.registerToken(_info(1));
    }

    function _info(uint32 eid) private pure returns (IHub.TokenInfo memory) {
        return IHub.TokenInfo(31337, eid, address(uint160(eid) + 1), address(uint160(eid) + 1000));
    }
}
