// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {ITransferRoots} from "../src/interfaces/ITransferRoots.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {Token} from "../src/Token.sol";
import {Verifier} from "../src/Verifier.sol";
import {Spec, Vm} from "./support/Spec.sol";

contract VerifierTest is Spec {
    address private constant ALICE = address(0xA11CE);

    Token private token;
    Verifier private verifier;

    function setUp() public {
        token = new Token("Test zUSD", "zUSD", 6, address(this));
        token.setMinter(address(this));
        verifier = new Verifier(address(token), 8, address(this));
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
        check(!verifier.paused(), "paused");
    }

    function test_an_empty_token_cannot_be_reserved() public {
        vm.expectRevert(abi.encodeWithSelector(ITransferRoots.ZeroHashChain.selector, uint64(0)));
        verifier.reserveHashChain();
    }

    function testFuzz_anyone_reserves_the_chain_of_the_token(uint256 leaves, address caller) public {
        leaves = within(leaves, 1, 20);
        for (uint256 i = 0; i < leaves; ++i) token.mint(ALICE, i);
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

    function test_needs_a_token() public {
        vm.expectRevert(IVerifier.ZeroToken.selector);
        new Verifier(address(0), 8, address(this));
    }
}
