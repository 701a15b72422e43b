// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title Mints by proof
/// @notice A withdraw proof shows that a leaf under a known root pays a burn address of this recipient, and says
/// neither which leaf nor which address. Anyone may submit it; the mint goes to the recipient.
interface ITeleports {
    /// @notice Who a burn address belongs to; its hash is part of the address.
    /// @param chainId Chain to mint on.
    /// @param recipient Address to mint to, left-padded.
    /// @param tweak Makes recipient hashes of one address different; a fresh one for each payment.
    struct GeneralRecipient {
        uint64 chainId;
        bytes32 recipient;
        bytes32 tweak;
    }

    /// @notice The recipient's consent to pay whoever submits the mint (EIP-712, this contract's domain).
    /// @param relayerFee What the submitter takes.
    /// @param maxFee What the recipient signed for at most.
    /// @param deadline Last second (unix time) at which the consent counts.
    /// @param signature The recipient's signature, or what its contract accepts by ERC-1271.
    struct RelayerFee {
        uint256 relayerFee;
        uint256 maxFee;
        uint64 deadline;
        bytes signature;
    }

    event Teleport(
        address indexed to,
        uint256 value,
        bool isGlobal,
        uint64 rootHint,
        uint256 transferRoot,
        GeneralRecipient gr
    );

    event TeleportWithRelayerFee(
        address indexed to,
        address indexed relayer,
        uint256 recipientValue,
        uint256 relayerFee,
        bool isGlobal,
        uint64 rootHint,
        uint256 transferRoot,
        GeneralRecipient gr
    );

    /// @notice There is no verifier for this kind of proof here.
    error WithdrawVerifierNotSet();

    /// @notice No root is known at this leaf count or aggregation sequence.
    error ExpectedRootZero(uint64 rootHint);
    error TransferRootMismatch(uint256 expected, uint256 actual);

    /// @notice The recipient given is not the one the proof is for.
    error RecipientMismatch(uint256 expected, uint256 actual);
    error InvalidRecipientChainId(uint64 expected, uint64 actual);

    /// @notice As much as the proof shows was minted before.
    error NothingToWithdraw(uint256 currentTotal, uint256 totalValue);

    error RelayerFeeExceedsMax(uint256 relayerFee, uint256 maxFee);
    error RelayerFeeExceedsDiff(uint256 relayerFee, uint256 diff);
    error RelayerFeeAuthorizationExpired(uint64 deadline, uint256 timestamp);
    error InvalidRelayerFeeSignature();

    /// @notice Verifier whose place this one took; zero when there was none.
    function predecessor() external view returns (address);

    /// @notice What was minted so far for a recipient hash, here or by predecessors. Local and global proofs share it.
    function totalTeleported(uint256 recipientHash) external view returns (uint256);

    /// @notice SHA-256 of chain id, recipient and tweak, with 1 in place of its first byte.
    function recipientHashOf(GeneralRecipient calldata gr) external pure returns (uint256);

    function singleWithdrawLocalVerifier() external view returns (address);

    function singleWithdrawGlobalVerifier() external view returns (address);

    /// @notice Verifier of batch proofs under local roots; zero while there is none.
    function withdrawLocalDecider() external view returns (address);

    /// @notice Verifier of batch proofs under global roots; zero while there is none.
    function withdrawGlobalDecider() external view returns (address);

    /// @notice Mints what a proof over one leaf shows above what was minted before. Not while paused.
    /// @dev Order of refusals: proof, root, recipient, chain, nothing left.
    /// @param isGlobal Whether the root is an aggregation root.
    /// @param rootHint Leaf count of a proved root, or sequence number of an aggregation root.
    /// @param gr Opening of the proof's recipient hash.
    /// @param proof Eight words of the proof, then transfer root, recipient hash and total value.
    function singleTeleport(bool isGlobal, uint64 rootHint, GeneralRecipient calldata gr, bytes calldata proof)
        external;

    /// @notice The same, of which the submitter takes a fee that the recipient agreed to.
    function singleTeleport(
        bool isGlobal,
        uint64 rootHint,
        GeneralRecipient calldata gr,
        bytes calldata proof,
        RelayerFee calldata fee
    ) external;

    /// @notice The same by a proof over many leaves of one recipient hash.
    function teleport(bool isGlobal, uint64 rootHint, GeneralRecipient calldata gr, bytes calldata proof) external;

    /// @notice The same with a fee.
    function teleport(
        bool isGlobal,
        uint64 rootHint,
        GeneralRecipient calldata gr,
        bytes calldata proof,
        RelayerFee calldata fee
    ) external;
}
