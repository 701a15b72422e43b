// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {FeeSplitter} from "../src/FeeSplitter.sol";
import {IFeeSplitter} from "../src/interfaces/IFeeSplitter.sol";
import {Token} from "../src/Token.sol";
import {Spec, Vm} from "./support/Spec.sol";

contract FeeSplitterTest is Spec {
    address private constant PROVIDER = address(0x9807);
    address private constant FEES = address(0xFEE5);

    Token private token;

    function setUp() public {
        token = new Token("Test zUSD", "zUSD", 6, address(this));
        token.setMinter(address(this));
    }

    function test_divides_a_mint_that_knows_nothing_of_it() public {
        FeeSplitter splitter = _splitter(250, true);
        token.mint(address(splitter), 1025);
        vm.recordLogs();
        vm.prank(address(0xA11CE));
        (uint256 toProvider, uint256 toFees) = splitter.distribute();
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(toProvider, 1000, "the whole price");
        same(toFees, 25, "the fee on top");
        same(token.balanceOf(PROVIDER), 1000, "provider");
        same(token.balanceOf(FEES), 25, "fees");
        same(logs[logs.length - 1].topics[0], keccak256("Distributed(uint256,uint256)"), "topic");
        same(logs[logs.length - 1].data, abi.encode(uint256(1000), uint256(25)), "logged data");
    }

    function test_takes_a_fee_out_of_the_price_when_the_provider_pays_it() public {
        FeeSplitter splitter = _splitter(250, false);
        token.mint(address(splitter), 1000);
        splitter.distribute();
        same(token.balanceOf(PROVIDER), 975, "price less fee");
        same(token.balanceOf(FEES), 25, "fees");
    }

    function test_an_empty_balance_changes_nothing_and_appends_no_leaf() public {
        FeeSplitter splitter = _splitter(1, true);
        splitter.distribute();
        same(token.index(), 0, "leaves");
        token.mint(address(splitter), 1);
        splitter.distribute();
        same(token.balanceOf(PROVIDER), 1, "dust is the provider's");
        same(token.index(), 2, "a mint and one transfer");
    }

    /// @dev Payments as the facilitator quotes them, minted in parts of any size and distributed at any time.
    function testFuzz_the_provider_gets_its_due_of_every_payment_however_they_are_summed(
        uint256 seed,
        uint16 bps,
        bool payerPays
    ) public {
        bps = uint16(within(bps, 1, payerPays ? 10_000 : 9_999));
        FeeSplitter splitter = _splitter(bps, payerPays);
        uint256 due = 0;
        uint256 all = 0;
        uint256 unminted = 0;
        uint256 count = 1 + seed % 20;
        for (uint256 i = 0; i < count; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 price = 1 + (seed >> 8) % (seed % 2 == 0 ? 100 : type(uint200).max);
            uint256 fee = Math.mulDiv(price, bps, 10_000, Math.Rounding.Ceil);
            due += payerPays ? price : price - fee;
            all += payerPays ? price + fee : price;
            unminted += payerPays ? price + fee : price;
            if ((seed >> 220) % 3 != 0) {
                token.mint(address(splitter), unminted);
                unminted = 0;
            }
            if ((seed >> 230) % 3 == 0) splitter.distribute();
        }
        if (unminted != 0) token.mint(address(splitter), unminted);
        splitter.distribute();
        uint256 got = token.balanceOf(PROVIDER);
        check(got >= due, "never below what is due");
        check(got - due <= count, "at most a unit of dust a payment");
        same(got + token.balanceOf(FEES), all, "nothing is left or lost");
    }

    function testFuzz_parts_are_the_whole(uint256 amount, uint16 bps, bool payerPays) public {
        bps = uint16(within(bps, 1, 9_999));
        (uint256 toProvider, uint256 toFees) = _splitter(bps, payerPays).split(amount);
        same(toProvider + toFees, amount, "sum");
    }

    function testFuzz_a_fee_is_at_least_a_basis_point_and_leaves_the_provider_something(uint16 bps) public {
        bps = bps == 0 ? 0 : uint16(within(bps, 10_001, type(uint16).max));
        vm.expectRevert(abi.encodeWithSelector(IFeeSplitter.InvalidBps.selector, bps));
        _splitter(bps, true);
        vm.expectRevert(abi.encodeWithSelector(IFeeSplitter.InvalidBps.selector, 10_000));
        _splitter(10_000, false);
        (uint256 toProvider, uint256 toFees) = _splitter(10_000, true).split(101);
        same(toProvider, 51, "a fee as large as the price");
        same(toFees, 50, "fee");
    }

    function test_nobody_is_missing_or_twice() public {
        vm.expectRevert(IFeeSplitter.ZeroAddress.selector);
        new FeeSplitter(address(0), PROVIDER, FEES, 1, true);
        vm.expectRevert(IFeeSplitter.ZeroAddress.selector);
        new FeeSplitter(address(token), address(0), FEES, 1, true);
        vm.expectRevert(IFeeSplitter.ZeroAddress.selector);
        new FeeSplitter(address(token), PROVIDER, address(0), 1, true);
        vm.expectRevert(abi.encodeWithSelector(IFeeSplitter.InvalidRecipient.selector, PROVIDER));
        new FeeSplitter(address(token), PROVIDER, PROVIDER, 1, true);
        vm.expectRevert(abi.encodeWithSelector(IFeeSplitter.InvalidRecipient.selector, address(token)));
        new FeeSplitter(address(token), address(token), FEES, 1, true);
        vm.expectRevert(abi.encodeWithSelector(IFeeSplitter.InvalidRecipient.selector, address(token)));
        new FeeSplitter(address(token), PROVIDER, address(token), 1, true);
    }

    function _splitter(uint16 bps, bool payerPays) private returns (FeeSplitter) {
        return new FeeSplitter(address(token), PROVIDER, FEES, bps, payerPays);
    }
}
