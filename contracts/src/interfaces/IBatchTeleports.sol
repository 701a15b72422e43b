// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ITeleports} from "./ITeleports.sol";

/// @title Mints of many burns by one proof
/// @notice A batch proof shows distinct leaves of one recipient hash between two leaf counts, and says neither which
/// leaves nor how many. Proofs that follow each other count what lies below a checkpoint, once for each submitter.
/// @dev Every count is a lower bound of all that was burned for a recipient hash, and so is every proof of one leaf.
/// A mint pays the largest bound shown so far, less what was minted before. Adding the bounds up would mint a burn
/// again that two kinds of proof show.
interface IBatchTeleports is ITeleports {
    event BatchVerifierSet(address batchVerifier);

    /// @notice A proof was counted, whether or not it minted something.
    event BatchCounted(
        uint256 indexed recipientHash, address indexed submitter, uint48 start, uint48 end, uint256 counted
    );

    /// @notice There is no verifier of batch proofs here.
    error BatchVerifierNotSet();

    /// @notice A proof goes on where the submitter's last one ended, or begins again at zero.
    error WrongStart(uint48 checkpoint, uint48 start);

    /// @notice A leaf at or above the root's leaf count can still change.
    error EndAboveRoot(uint64 rootHint, uint48 end);

    /// @notice A range ends where it begins or later: a count never goes back.
    error StartAboveEnd(uint48 start, uint48 end);

    /// @notice More was counted than a count can hold.
    error CountTooLarge(uint256 counted);

    /// @notice Verifier of batch proofs; zero while there is none.
    function batchVerifier() external view returns (address);

    /// @notice How far a submitter has counted the burns of a recipient hash. Zero again after a root was revoked or the
    /// verifier of batches was replaced.
    /// @return checkpoint Leaf count below which everything it showed is counted.
    /// @return counted Sum of the values it showed.
    function batchCount(uint256 recipientHash, address submitter)
        external
        view
        returns (uint48 checkpoint, uint208 counted);

    /// @notice Counts the burns that a proof shows, and mints what the count is above all that was minted before. A
    /// count that is not above mints nothing and stays. Not while paused.
    /// @dev Counts are kept by submitter: whoever learned the tweak of a recipient hash could otherwise burn dust for
    /// it and move the checkpoint past burns that are not counted yet. So call it from an account of your own: through
    /// a contract that calls for everybody, anybody could repeat an old proof and put the checkpoint back.
    /// A proof that somebody else submits first pays the same recipient; the same proof then mints nothing more.
    /// @param rootHint Leaf count of a proved root. There are no batches under aggregation roots: their leaves have no
    /// order in time, and one can be replaced.
    /// @param gr Opening of the proof's recipient hash.
    /// @param start The submitter's checkpoint, or zero to count all again.
    /// @param end The next checkpoint: above every leaf that the proof uses.
    /// @param value Sum of the burns that the proof shows.
    /// @param proof Eight words.
    function batchTeleport(
        uint64 rootHint,
        GeneralRecipient calldata gr,
        uint48 start,
        uint48 end,
        uint256 value,
        uint256[8] calldata proof
    ) external;
}
