// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {IFeeSplitter} from "./interfaces/IFeeSplitter.sol";

/// @title Treasury that divides what it receives between a provider and a facilitator
contract FeeSplitter is IFeeSplitter {
    uint16 private constant WHOLE = 10_000;

    address public immutable override token;
    address public immutable override provider;
    address public immutable override feeRecipient;
    uint16 public immutable override bps;
    bool public immutable override payerPays;

    constructor(address token_, address provider_, address feeRecipient_, uint16 bps_, bool payerPays_) {
        if (token_ == address(0) || provider_ == address(0) || feeRecipient_ == address(0)) revert ZeroAddress();
        if (provider_ == feeRecipient_ || provider_ == address(this) || provider_ == token_) {
            revert InvalidRecipient(provider_);
        }
        if (feeRecipient_ == address(this) || feeRecipient_ == token_) revert InvalidRecipient(feeRecipient_);
        if (bps_ == 0 || bps_ > WHOLE || (bps_ == WHOLE && !payerPays_)) revert InvalidBps(bps_);
        token = token_;
        provider = provider_;
        feeRecipient = feeRecipient_;
        bps = bps_;
        payerPays = payerPays_;
    }

    /// @inheritdoc IFeeSplitter
    function distribute() external override returns (uint256 toProvider, uint256 toFeeRecipient) {
        (toProvider, toFeeRecipient) = split(IERC20(token).balanceOf(address(this)));
        if (toProvider != 0) SafeERC20.safeTransfer(IERC20(token), provider, toProvider);
        // A transfer of nothing would still append a leaf.
        if (toFeeRecipient != 0) SafeERC20.safeTransfer(IERC20(token), feeRecipient, toFeeRecipient);
        if (toProvider != 0) emit Distributed(toProvider, toFeeRecipient);
    }

    /// @inheritdoc IFeeSplitter
    function split(uint256 amount) public view override returns (uint256 toProvider, uint256 toFeeRecipient) {
        // The price is the whole of a fee that is part of it; with a fee on top, amounts are that much larger.
        toFeeRecipient = Math.mulDiv(amount, bps, payerPays ? WHOLE + bps : WHOLE);
        toProvider = amount - toFeeRecipient;
    }
}
