// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {IToken} from "../src/interfaces/IToken.sol";
import {HashChain} from "../src/libraries/HashChain.sol";
import {Token} from "../src/Token.sol";
import {Spec, Vm} from "./support/Spec.sol";

contract TokenTest is Spec {
    address private constant ALICE = 0x1111111111111111111111111111111111111111;
    address private constant BOB = 0x2222222222222222222222222222222222222222;
    uint256 private constant MAX_VALUE = type(uint248).max;

    /// @dev Told to the token, which asks its verifier, this test, whose it is.
    Token public token;

    function setUp() public {
        token = new Token("Test zUSD", "zUSD", 6, address(this));
        token.setMinter(address(this));
        token.setVerifier(address(this));
    }

    function test_starts_with_no_leaf_and_the_given_metadata() public view {
        same(token.index(), 0, "index");
        same(token.hashChain(), 0, "hashChain");
        same(token.decimals(), 6, "decimals");
        same(bytes(token.name()), "Test zUSD", "name");
        same(bytes(token.symbol()), "zUSD", "symbol");
        same(token.owner(), address(this), "owner");
    }

    function test_the_permit_domain_is_the_name_and_version_1() public view {
        (, string memory name, string memory version, uint256 chainId, address verifying,,) = token.eip712Domain();
        same(bytes(name), "Test zUSD", "name");
        same(bytes(version), "1", "version");
        same(chainId, block.chainid, "chain id");
        same(verifying, address(token), "verifying contract");
    }

    function test_the_hash_chain_follows_the_published_vector_of_a_mint_and_a_transfer() public {
        token.mint(ALICE, 1000);
        same(token.hashChain(), 0x00ddece52673f435bf9c7e745b21aa4f137b7011a60f60f09d0bce13b563aaa2, "mint");
        vm.prank(ALICE);
        token.transfer(BOB, 250);
        same(token.hashChain(), 0x00ac89943dc678eb1275590ba2feaaffaba7434a36833f9aa9078d4b301dc032, "transfer");
    }

    function test_the_hash_chain_follows_the_published_vector_of_a_lone_transfer() public {
        token.mint(ALICE, 0x333);
        uint256 slot = 0;
        while (uint256(vm.load(address(token), bytes32(slot))) != token.hashChain()) ++slot;
        vm.store(address(token), bytes32(slot), 0);
        vm.prank(ALICE);
        token.transfer(BOB, 0x333);
        same(token.hashChain(), 0x00b499aa085c64d5668ec9512d24a54cb7cf7174543dd1dd5a806f77d0bb3e93, "transfer");
    }

    function test_the_hash_chain_follows_the_published_vector_of_all_zeros() public pure {
        uint256 zeros = HashChain.append(0, address(0), address(0), 0);
        same(zeros, 0x00f37f8d1931b3bdf767e7510dd69509fbf23af1f7654933d0a4d291cbdd4418, "zeros");
    }

    function testFuzz_every_balance_change_appends_one_leaf(uint256 minted, uint256 moved, uint256 removed, uint256 teleported)
        public
    {
        minted = within(minted, 2, MAX_VALUE);
        moved = within(moved, 1, minted - 1);
        removed = within(removed, 1, minted - moved);
        teleported = within(teleported, 1, MAX_VALUE);

        token.mint(ALICE, minted);
        uint256 chain = _step(0, address(0), ALICE, minted);
        same(token.hashChain(), chain, "mint");

        vm.prank(ALICE);
        token.transfer(BOB, moved);
        chain = _step(chain, ALICE, BOB, moved);
        same(token.hashChain(), chain, "transfer");

        token.burn(ALICE, removed);
        chain = _step(chain, ALICE, address(0), removed);
        same(token.hashChain(), chain, "burn");

        token.teleport(BOB, teleported);
        chain = _step(chain, address(0), BOB, teleported);
        same(token.hashChain(), chain, "teleport");

        same(token.index(), 4, "index");
        same(token.totalTeleported(), teleported, "total teleported");
    }

    function testFuzz_a_transfer_by_allowance_names_the_payer_as_sender(uint256 value) public {
        value = within(value, 1, MAX_VALUE);
        token.mint(ALICE, value);
        uint256 chain = token.hashChain();
        vm.prank(ALICE);
        token.approve(address(this), value);
        token.transferFrom(ALICE, BOB, value);
        same(token.hashChain(), _step(chain, ALICE, BOB, value), "chain");
    }

    function test_transfers_to_oneself_are_leaves_too() public {
        token.mint(ALICE, 5);
        vm.prank(ALICE);
        token.transfer(ALICE, 5);
        same(token.index(), 2, "index");
    }

    function test_transfers_of_nothing_are_no_leaves_so_that_nobody_makes_leaves_for_gas_alone() public {
        token.mint(ALICE, 5);
        uint256 chain = token.hashChain();
        vm.prank(ALICE);
        token.transfer(ALICE, 0);
        vm.recordLogs();
        vm.prank(BOB);
        token.transfer(ALICE, 0);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        token.transferFrom(ALICE, BOB, 0);
        token.mint(ALICE, 0);
        token.burn(ALICE, 0);
        token.teleport(ALICE, 0);
        same(token.index(), 1, "index");
        same(token.hashChain(), chain, "chain");
        same(logs.length, 1, "ERC-20 wants its Transfer all the same");
        same(logs[0].topics[0], keccak256("Transfer(address,address,uint256)"), "topic");
    }

    function test_the_indexed_transfer_follows_its_transfer_and_indexes_only_the_index() public {
        token.mint(ALICE, 10);
        vm.recordLogs();
        vm.prank(ALICE);
        token.transfer(BOB, 7);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(logs.length, 2, "log count");
        same(logs[0].topics[0], keccak256("Transfer(address,address,uint256)"), "first");
        same(logs[1].topics[0], 0xb9285eeffc25fae3689fd1d4d3245dbc73f87f3bc8cb50c1de55574221805d0d, "second");
        same(logs[1].topics.length, 2, "topic count");
        same(logs[1].topics[1], bytes32(uint256(1)), "index");
        same(logs[1].data, abi.encode(ALICE, BOB, uint256(7)), "data");
    }

    function test_a_teleport_announces_itself_after_the_mint() public {
        vm.recordLogs();
        token.teleport(ALICE, 9);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(logs.length, 3, "log count");
        same(logs[2].topics[0], keccak256("Teleport(address,uint256)"), "topic");
        same(logs[2].topics[1], bytes32(uint256(uint160(ALICE))), "to");
        same(logs[2].data, abi.encode(uint256(9)), "value");
    }

    function testFuzz_values_above_248_bits_are_refused(uint256 value) public {
        value = within(value, MAX_VALUE + 1, type(uint256).max);
        vm.expectRevert(IToken.ValueTooLarge.selector);
        token.mint(ALICE, value);
    }

    function test_the_largest_value_is_accepted() public {
        token.mint(ALICE, MAX_VALUE);
        same(token.balanceOf(ALICE), MAX_VALUE, "balance");
    }

    function testFuzz_only_the_minter_mints_and_burns(address stranger) public {
        vm.assume(stranger != address(this));
        vm.prank(stranger);
        vm.expectRevert(IToken.OnlyMinter.selector);
        token.mint(stranger, 1);
        vm.prank(stranger);
        vm.expectRevert(IToken.OnlyMinter.selector);
        token.burn(ALICE, 0);
    }

    function testFuzz_only_the_verifier_teleports(address stranger) public {
        vm.assume(stranger != address(this));
        vm.prank(stranger);
        vm.expectRevert(IToken.OnlyVerifier.selector);
        token.teleport(stranger, 1);
    }

    function testFuzz_only_the_owner_names_minter_and_verifier(address stranger) public {
        vm.assume(stranger != address(this));
        bytes memory refusal = abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        token.setMinter(stranger);
        vm.prank(stranger);
        vm.expectRevert(refusal);
        token.setVerifier(stranger);
    }

    function test_the_minter_may_be_nobody_but_the_verifier_may_not() public {
        token.setMinter(address(0));
        same(token.minter(), address(0), "minter");
        vm.expectRevert(IToken.ZeroAddress.selector);
        token.setVerifier(address(0));
    }

    function _step(uint256 chain, address from, address to, uint256 value) private pure returns (uint256) {
        bytes memory preimage = bytes.concat(bytes32(chain), bytes20(from), bytes20(to), bytes32(value));
        return (uint256(sha256(preimage)) << 8) >> 8;
    }
}
