// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title Treasury that divides what it receives between a provider and a facilitator
/// @notice Nobody owns it and nothing of it can change. Mints need not know of it: it holds whatever arrives until
/// somebody distributes it.
/// @dev The fee of a balance is rounded down, the fee of each payment was rounded up. So however many payments a
/// balance is the sum of, and in however many parts it is distributed, the provider gets at least what it would get of
/// each payment alone. It gets at most one unit more for each payment and each distribution. Of a token with few decimals
/// that is a sum: a fee below one unit is never paid if every mint is distributed by itself.
interface IFeeSplitter {
    event Distributed(uint256 toProvider, uint256 toFeeRecipient);

    error ZeroAddress();

    /// @notice A fee is at least one basis point and at most the price, and it leaves the provider something.
    error InvalidBps(uint16 bps);

    /// @notice Provider and fee recipient are the same, or the splitter itself.
    error InvalidRecipient(address recipient);

    /// @notice Token that is divided.
    function token() external view returns (address);

    /// @notice Who sells.
    function provider() external view returns (address);

    /// @notice Who gets the fee.
    function feeRecipient() external view returns (address);

    /// @notice Fee in hundredths of a percent: of the price.
    function bps() external view returns (uint16);

    /// @notice Whether the fee was added to the price, so that the provider gets the whole price. Otherwise it is part
    /// of the price.
    function payerPays() external view returns (bool);

    /// @notice How an amount is divided.
    function split(uint256 amount) external view returns (uint256 toProvider, uint256 toFeeRecipient);

    /// @notice Divides the whole balance. Anyone may call it; an empty balance changes nothing.
    function distribute() external returns (uint256 toProvider, uint256 toFeeRecipient);
}
