// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title Shape of the question and the answer of `PaymentLens`
/// @notice Never deployed and never called as a function: `read` names the constructor's arguments and the encoding
/// of what it returns, so that a client can encode and decode with an ordinary ABI.
interface IPaymentLens {
    /// @notice One payment by permit; together with token and helper, the key of the helper's ledger.
    struct PermitQuery {
        address payer;
        address burnAddress;
        uint256 value;
        bytes32 challengeNonce;
    }

    /// @notice What kind of account a payer is.
    /// @dev `None`: no code, an ordinary key pair. `Delegated`: a key pair with an EIP-7702 delegation, which still
    /// signs. `Contract`: code without a key, which cannot sign a permit.
    enum AccountCode {
        None,
        Delegated,
        Contract
    }

    /// @notice Chain facts about one permit query.
    /// @param nonce The payer's live permit nonce at the token.
    /// @param balance The payer's balance.
    /// @param allowance What the helper may already move; zero without a helper.
    /// @param executed Whether the helper's ledger has this very burn; false without a helper.
    /// @param code What kind of account the payer is.
    struct PermitFact {
        uint256 nonce;
        uint256 balance;
        uint256 allowance;
        bool executed;
        AccountCode code;
    }

    /// @param token Token of all questions; the call reverts when it is no ERC-2612 token.
    /// @param helper The permit burner, or zero when the gasless path is off.
    /// @param permits Payments by permit.
    /// @param burnAddresses Burn addresses whose balance is asked for. For the node the answer is contract code
    /// (EIP-170), so 160 bytes per permit, 32 per burn address and about 400 for the rest have to fit 24,576.
    /// @return timestamp Time of the block that all facts were read at.
    /// @return blockNumber Number of that block.
    /// @return chainId Chain that answered.
    /// @return permitFacts One per permit query, in order.
    /// @return burnBalances One per burn address, in order.
    /// @return tokenName The token's name, which is part of the permit's EIP-712 domain.
    function read(
        address token,
        address helper,
        PermitQuery[] calldata permits,
        address[] calldata burnAddresses
    )
        external
        view
        returns (
            uint256 timestamp,
            uint256 blockNumber,
            uint256 chainId,
            PermitFact[] memory permitFacts,
            uint256[] memory burnBalances,
            string memory tokenName
        );
}
