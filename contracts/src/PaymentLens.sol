// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";

import {IPaymentLens} from "./interfaces/IPaymentLens.sol";
import {ISvcPermitBurner} from "./interfaces/ISvcPermitBurner.sol";

/// @title Every chain fact of many payments in one `eth_call`, all of one block
/// @notice Never deployed: its creation code runs in an `eth_call` without `to`, and what would become the
/// contract's code is the answer. See `IPaymentLens.read` for its encoding.
contract PaymentLens {
    /// @dev EIP-7702: the code of a delegated account is this prefix and the delegate's address.
    bytes3 private constant DELEGATION_PREFIX = 0xef0100;
    uint256 private constant DELEGATION_BYTES = 23;

    constructor(
        address token,
        address helper,
        IPaymentLens.PermitQuery[] memory permits,
        address[] memory burnAddresses
    ) {
        bytes memory answer = abi.encode(
            block.timestamp,
            block.number,
            block.chainid,
            _permitFacts(token, helper, permits),
            _balances(token, burnAddresses),
            IERC20Metadata(token).name()
        );
        // Solidity has no other way to choose what a constructor returns.
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }

    function _permitFacts(address token, address helper, IPaymentLens.PermitQuery[] memory permits)
        private
        view
        returns (IPaymentLens.PermitFact[] memory facts)
    {
        facts = new IPaymentLens.PermitFact[](permits.length);
        for (uint256 i = 0; i < permits.length; ++i) {
            IPaymentLens.PermitQuery memory query = permits[i];
            IPaymentLens.PermitFact memory fact = facts[i];
            fact.nonce = IERC20Permit(token).nonces(query.payer);
            fact.balance = IERC20Metadata(token).balanceOf(query.payer);
            fact.code = _accountCode(query.payer);
            if (helper == address(0)) continue;
            fact.allowance = IERC20Metadata(token).allowance(query.payer, helper);
            fact.executed = ISvcPermitBurner(helper).executed(
                token, query.payer, query.burnAddress, query.value, query.challengeNonce
            );
        }
    }

    function _balances(address token, address[] memory accounts) private view returns (uint256[] memory balances) {
        balances = new uint256[](accounts.length);
        for (uint256 i = 0; i < accounts.length; ++i) {
            balances[i] = IERC20Metadata(token).balanceOf(accounts[i]);
        }
    }

    function _accountCode(address account) private view returns (IPaymentLens.AccountCode) {
        uint256 length = account.code.length;
        if (length == 0) return IPaymentLens.AccountCode.None;
        if (length == DELEGATION_BYTES && bytes3(account.code) == DELEGATION_PREFIX) {
            return IPaymentLens.AccountCode.Delegated;
        }
        return IPaymentLens.AccountCode.Contract;
    }
}
