// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title Helper of the gasless path: turns two signatures of a payer into one burn
/// @notice Anyone may submit a burn; only the payer's signatures decide what moves and where to. The contract has no
/// owner, holds no funds and keeps one fact: which burns it has executed.
interface ISvcPermitBurner {
    /// @notice What the payer signs (EIP-712, domain `SvcPermitBurner` version `1`).
    /// @param token Token to burn.
    /// @param payer Account that pays and signs; an externally owned account.
    /// @param burnAddress One-time address the funds go to and never leave.
    /// @param value Amount in base units, moved exactly.
    /// @param challengeNonce Nonce of the offer that this burn pays for.
    /// @param deadline Last second (unix time) at which the burn may happen; also the permit's deadline.
    struct BurnAuthorization {
        address token;
        address payer;
        address burnAddress;
        uint256 value;
        bytes32 challengeNonce;
        uint256 deadline;
    }

    /// @notice One burn as the facilitator submits it.
    /// @param authorization What the payer signed.
    /// @param v Recovery id of the ERC-2612 permit (owner = payer, spender = this contract, same value and deadline).
    /// @param r First half of the permit signature.
    /// @param s Second half of the permit signature.
    /// @param burnAuthSig Signature of the authorization, 65 bytes `r ‖ s ‖ v` with `v` 27 or 28.
    struct BurnRequest {
        BurnAuthorization authorization;
        uint8 v;
        bytes32 r;
        bytes32 s;
        bytes burnAuthSig;
    }

    /// @notice The payer's funds are at the burn address.
    event BurnExecuted(
        bytes32 indexed challengeNonce,
        address indexed token,
        address indexed payer,
        address burnAddress,
        uint256 value
    );

    /// @notice An item of a batch failed and left no trace but this; the other items are not affected.
    /// @dev Says nothing about the challenge: anyone can submit a failing item that names any nonce. Ask `executed`.
    /// @param reason Raw revert data of the item: an error of this contract or of the token; empty when it ran out
    /// of gas; `ReasonTooLong` in place of data above 256 bytes.
    event BurnFailed(bytes32 indexed challengeNonce, bytes reason);

    /// @notice The deadline has passed.
    error BurnExpired(uint256 deadline);

    /// @notice This burn has happened before.
    error BurnAlreadyExecuted(bytes32 challengeNonce);

    /// @notice `burnAuthSig` is malformed, has a high `s`, or is not the payer's signature of the authorization.
    error InvalidBurnAuthorization();

    error ZeroBurnAddress();

    /// @notice There is no contract at the token address.
    error TokenWithoutCode(address token);

    /// @notice The token refused the permit and the allowance from before does not cover the value.
    /// @param reason Revert data of the token's `permit`.
    error PermitRejected(bytes reason);

    /// @notice The burn address received another amount than the payer signed for.
    error BurnMismatch(uint256 expected, uint256 received);

    /// @notice The batch could not give every item its full share of gas, so it did not start.
    error InsufficientBatchGas(uint256 required, uint256 available);

    /// @notice The function is for the contract's own calls.
    error OnlySelf();

    /// @notice Stands for revert data that was too long to copy.
    error ReasonTooLong(uint256 length);

    /// @notice Executes one burn or reverts with the reason; a revert of the token's transfer passes through as is.
    function burn(BurnRequest calldata request) external;

    /// @notice Executes many burns; each succeeds or fails alone and emits `BurnExecuted` or `BurnFailed`.
    /// @dev Reverts as a whole only with `InsufficientBatchGas`, before any item ran.
    function burnBatch(BurnRequest[] calldata requests) external;

    /// @notice Whether exactly this burn has happened here.
    /// @dev The ledger is keyed by what moved and why (token, payer, burn address, value, challenge nonce). By nonce
    /// alone, a stranger who sees a nonce in the mempool could use it up with a burn of their own and so block the
    /// real one, or make an unpaid challenge look paid. The deadline is left out: signing the same burn again with a
    /// later deadline does not make it a second burn.
    function executed(address token, address payer, address burnAddress, uint256 value, bytes32 challengeNonce)
        external
        view
        returns (bool);

    /// @notice EIP-712 digest that the payer signs.
    function authorizationDigest(BurnAuthorization calldata authorization) external view returns (bytes32);

    /// @notice Gas `burnBatch` must have at its start; a transaction adds its intrinsic and calldata cost.
    function minimumBatchGas(uint256 items) external pure returns (uint256);
}
