// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {ISvcPermitBurner} from "./interfaces/ISvcPermitBurner.sol";

/// @title Helper of the gasless path
/// @dev Tokens are not trusted: any address can stand in a request. Hence the ledger entry before the first call
/// into the token, the guard on every entry point, the measured balance, and bounded gas and return data per item.
contract SvcPermitBurner is ISvcPermitBurner, EIP712, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    bytes32 public constant BURN_AUTHORIZATION_TYPEHASH = keccak256(
        "BurnAuthorization(address token,address payer,address burnAddress,uint256 value,bytes32 challengeNonce,uint256 deadline)"
    );

    /// @dev Gas one batch item may use; about twice what a burn of a token behind a proxy needs.
    uint256 private constant ITEM_GAS = 250_000;

    /// @dev Gas the batch itself may spend around one item: encoding the call, and the event of a failure.
    uint256 private constant ITEM_OVERHEAD_GAS = 20_000;

    /// @dev Longest revert data that is copied; errors of tokens in use are a fraction of it.
    uint256 private constant REASON_BYTES_MAX = 256;

    uint256 private constant SIGNATURE_BYTES = 65;

    mapping(bytes32 burnId => bool) private _executed;

    constructor() EIP712("SvcPermitBurner", "1") {}

    /// @inheritdoc ISvcPermitBurner
    function burn(BurnRequest calldata request) external override nonReentrant {
        _burn(request);
    }

    /// @inheritdoc ISvcPermitBurner
    function burnBatch(BurnRequest[] calldata requests) external override nonReentrant {
        uint256 required = minimumBatchGas(requests.length);
        uint256 available = gasleft();
        if (available < required) revert InsufficientBatchGas(required, available);

        for (uint256 i = 0; i < requests.length; ++i) {
            BurnRequest calldata request = requests[i];
            // The length is checked out here too, because copying an oversized signature is not on the item's gas.
            if (request.burnAuthSig.length != SIGNATURE_BYTES) {
                _fail(request, abi.encodeWithSelector(InvalidBurnAuthorization.selector));
                continue;
            }
            try this.burnItem{gas: ITEM_GAS}(request) {}
            catch {
                _fail(request, _boundedReturnData());
            }
        }
    }

    /// @notice One item of a batch. Only `burnBatch` reaches it, under its guard.
    /// @dev A call of its own, so that a failure undoes the item's ledger entry and permit and nothing else.
    function burnItem(BurnRequest calldata request) external {
        if (msg.sender != address(this)) revert OnlySelf();
        _burn(request);
    }

    /// @inheritdoc ISvcPermitBurner
    function executed(address token, address payer, address burnAddress, uint256 value, bytes32 challengeNonce)
        external
        view
        override
        returns (bool)
    {
        return _executed[_burnId(token, payer, burnAddress, value, challengeNonce)];
    }

    /// @inheritdoc ISvcPermitBurner
    function authorizationDigest(BurnAuthorization calldata authorization) public view override returns (bytes32) {
        return _hashTypedDataV4(
            keccak256(
                abi.encode(
                    BURN_AUTHORIZATION_TYPEHASH,
                    authorization.token,
                    authorization.payer,
                    authorization.burnAddress,
                    authorization.value,
                    authorization.challengeNonce,
                    authorization.deadline
                )
            )
        );
    }

    /// @inheritdoc ISvcPermitBurner
    /// @dev A call can pass on at most 63/64 of the gas left, so the last item needs a 63rd of its share on top.
    function minimumBatchGas(uint256 items) public pure override returns (uint256) {
        return items * (ITEM_GAS + ITEM_OVERHEAD_GAS) + ITEM_GAS / 63;
    }

    function _burn(BurnRequest calldata request) private {
        BurnAuthorization calldata authorization = request.authorization;
        if (authorization.burnAddress == address(0)) revert ZeroBurnAddress();
        if (block.timestamp > authorization.deadline) revert BurnExpired(authorization.deadline);
        if (authorization.token.code.length == 0) revert TokenWithoutCode(authorization.token);

        (address signer, ECDSA.RecoverError problem,) =
            ECDSA.tryRecoverCalldata(authorizationDigest(authorization), request.burnAuthSig);
        if (problem != ECDSA.RecoverError.NoError || signer != authorization.payer) revert InvalidBurnAuthorization();

        bytes32 burnId = _burnId(
            authorization.token,
            authorization.payer,
            authorization.burnAddress,
            authorization.value,
            authorization.challengeNonce
        );
        if (_executed[burnId]) revert BurnAlreadyExecuted(authorization.challengeNonce);
        _executed[burnId] = true;

        _permit(request);
        _transfer(authorization);

        emit BurnExecuted(
            authorization.challengeNonce,
            authorization.token,
            authorization.payer,
            authorization.burnAddress,
            authorization.value
        );
    }

    /// @dev A permit can be taken from the mempool and used ahead of this call; then the allowance is already there.
    /// That is no way around the payer: the authorization it signed is checked in any case.
    function _permit(BurnRequest calldata request) private {
        BurnAuthorization calldata authorization = request.authorization;
        try IERC20Permit(authorization.token).permit(
            authorization.payer,
            address(this),
            authorization.value,
            authorization.deadline,
            request.v,
            request.r,
            request.s
        ) {} catch {
            bytes memory reason = _boundedReturnData();
            uint256 allowance = IERC20(authorization.token).allowance(authorization.payer, address(this));
            if (allowance < authorization.value) revert PermitRejected(reason);
        }
    }

    /// @dev Measured, because a token may take a fee, move nothing, or answer `true` without moving anything.
    function _transfer(BurnAuthorization calldata authorization) private {
        IERC20 token = IERC20(authorization.token);
        uint256 balanceBefore = token.balanceOf(authorization.burnAddress);
        token.safeTransferFrom(authorization.payer, authorization.burnAddress, authorization.value);
        uint256 received = token.balanceOf(authorization.burnAddress) - balanceBefore;
        if (received != authorization.value) revert BurnMismatch(authorization.value, received);
    }

    function _fail(BurnRequest calldata request, bytes memory reason) private {
        emit BurnFailed(request.authorization.challengeNonce, reason);
    }

    /// @dev Revert data of the call just made, unless it is so long that copying it would be the attack.
    function _boundedReturnData() private pure returns (bytes memory) {
        uint256 length = LowLevelCall.returnDataSize();
        if (length > REASON_BYTES_MAX) return abi.encodeWithSelector(ReasonTooLong.selector, length);
        return LowLevelCall.returnData();
    }

    function _burnId(address token, address payer, address burnAddress, uint256 value, bytes32 challengeNonce)
        private
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(token, payer, burnAddress, value, challengeNonce));
    }
}
