// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {IWithdrawVerifier} from "../interfaces/IGroth16.sol";
import {ITeleports} from "../interfaces/ITeleports.sol";
import {IToken} from "../interfaces/IToken.sol";
import {ITransferRoots} from "../interfaces/ITransferRoots.sol";

/// @title Mints by proof
abstract contract Teleports is ITeleports, EIP712, Pausable {
    bytes32 public constant RELAYER_FEE_AUTHORIZATION_TYPEHASH = keccak256(
        "RelayerFeeAuthorization(uint256 recipientHash,uint256 totalValue,uint256 maxFee,uint64 deadline)"
    );

    /// @dev Eight words of the proof and three signals.
    uint256 private constant PROOF_BYTES = 11 * 32;
    uint256 private constant SIGNALS_OFFSET = 8 * 32;

    /// @dev What a proof was found to show.
    struct Finding {
        address to;
        uint256 transferRoot;
        uint256 recipientHash;
        uint256 totalValue;
        uint256 unminted;
    }

    address public immutable override predecessor;

    /// @dev What was minted here; a predecessor may have minted more.
    mapping(uint256 recipientHash => uint256) private _minted;
    address public override withdrawGlobalDecider;
    address public override withdrawLocalDecider;
    address public override singleWithdrawGlobalVerifier;
    address public override singleWithdrawLocalVerifier;

    constructor(address predecessor_) EIP712("Verifier", "1") {
        // One that cannot answer would make every mint here fail, and every mint of a successor.
        if (predecessor_ != address(0)) ITeleports(predecessor_).totalTeleported(0);
        predecessor = predecessor_;
    }

    /// @inheritdoc ITeleports
    function singleTeleport(bool isGlobal, uint64 rootHint, GeneralRecipient calldata gr, bytes calldata proof)
        external
        override
        whenNotPaused
    {
        _mint(isGlobal, rootHint, gr, _take(_singleVerifier(isGlobal), isGlobal, rootHint, gr, proof));
    }

    /// @inheritdoc ITeleports
    function singleTeleport(
        bool isGlobal,
        uint64 rootHint,
        GeneralRecipient calldata gr,
        bytes calldata proof,
        RelayerFee calldata fee
    ) external override whenNotPaused {
        Finding memory finding = _take(_singleVerifier(isGlobal), isGlobal, rootHint, gr, proof);
        _mintWithFee(isGlobal, rootHint, gr, finding, fee);
    }

    /// @inheritdoc ITeleports
    function teleport(bool isGlobal, uint64 rootHint, GeneralRecipient calldata gr, bytes calldata proof)
        external
        override
        whenNotPaused
    {
        _mint(isGlobal, rootHint, gr, _take(_batchVerifier(isGlobal), isGlobal, rootHint, gr, proof));
    }

    /// @inheritdoc ITeleports
    function teleport(
        bool isGlobal,
        uint64 rootHint,
        GeneralRecipient calldata gr,
        bytes calldata proof,
        RelayerFee calldata fee
    ) external override whenNotPaused {
        Finding memory finding = _take(_batchVerifier(isGlobal), isGlobal, rootHint, gr, proof);
        _mintWithFee(isGlobal, rootHint, gr, finding, fee);
    }

    /// @inheritdoc ITeleports
    function totalTeleported(uint256 recipientHash) public view override returns (uint256) {
        uint256 here = _minted[recipientHash];
        if (predecessor == address(0)) return here;
        return Math.max(here, ITeleports(predecessor).totalTeleported(recipientHash));
    }

    /// @inheritdoc ITeleports
    function recipientHashOf(GeneralRecipient calldata gr) public pure override returns (uint256) {
        uint256 digest = uint256(sha256(abi.encodePacked(gr.chainId, gr.recipient, gr.tweak)));
        return (digest & type(uint248).max) | (1 << 248);
    }

    function _token() internal view virtual returns (IToken);

    function _rootAt(bool isGlobal, uint64 rootHint) internal view virtual returns (uint256);

    /// @dev Checks a proof against roots, recipient and what was minted before, and books it as minted.
    function _take(
        address verifier,
        bool isGlobal,
        uint64 rootHint,
        GeneralRecipient calldata gr,
        bytes calldata proof
    ) private returns (Finding memory finding) {
        _requireProof(verifier, proof);
        (finding.transferRoot, finding.recipientHash, finding.totalValue) =
            abi.decode(proof[SIGNALS_OFFSET:], (uint256, uint256, uint256));

        uint256 root = _rootAt(isGlobal, rootHint);
        if (root == 0) revert ExpectedRootZero(rootHint);
        if (finding.transferRoot != root) revert TransferRootMismatch(root, finding.transferRoot);
        uint256 recipientHash = recipientHashOf(gr);
        if (finding.recipientHash != recipientHash) revert RecipientMismatch(recipientHash, finding.recipientHash);
        if (gr.chainId != block.chainid) revert InvalidRecipientChainId(uint64(block.chainid), gr.chainId);
        finding.unminted = _raiseTotal(recipientHash, finding.totalValue);
        if (finding.unminted == 0) {
            revert NothingToWithdraw(totalTeleported(recipientHash), finding.totalValue);
        }
        finding.to = address(uint160(uint256(gr.recipient)));
    }

    /// @dev Books that so much is minted for a recipient hash, unless as much was before.
    /// @return unminted What is to be minted now.
    function _raiseTotal(uint256 recipientHash, uint256 total) internal returns (uint256 unminted) {
        uint256 minted = totalTeleported(recipientHash);
        if (total <= minted) return 0;
        _minted[recipientHash] = total;
        return total - minted;
    }

    function _mint(bool isGlobal, uint64 rootHint, GeneralRecipient calldata gr, Finding memory finding) internal {
        emit Teleport(finding.to, finding.unminted, isGlobal, rootHint, finding.transferRoot, gr);
        _token().teleport(finding.to, finding.unminted);
    }

    function _mintWithFee(
        bool isGlobal,
        uint64 rootHint,
        GeneralRecipient calldata gr,
        Finding memory finding,
        RelayerFee calldata fee
    ) private {
        _requireConsent(finding, fee);
        uint256 value = finding.unminted - fee.relayerFee;
        emit TeleportWithRelayerFee(
            finding.to, msg.sender, value, fee.relayerFee, isGlobal, rootHint, finding.transferRoot, gr
        );
        // A mint of nothing would still append a leaf.
        if (value != 0) _token().teleport(finding.to, value);
        if (fee.relayerFee != 0) _token().teleport(msg.sender, fee.relayerFee);
    }

    /// @dev Asking the recipient's contract is a static call: it cannot come back and change anything.
    function _requireConsent(Finding memory finding, RelayerFee calldata fee) private view {
        if (fee.relayerFee > fee.maxFee) revert RelayerFeeExceedsMax(fee.relayerFee, fee.maxFee);
        if (fee.relayerFee > finding.unminted) revert RelayerFeeExceedsDiff(fee.relayerFee, finding.unminted);
        if (block.timestamp > fee.deadline) revert RelayerFeeAuthorizationExpired(fee.deadline, block.timestamp);
        bytes32 digest = _hashTypedDataV4(
            keccak256(
                abi.encode(
                    RELAYER_FEE_AUTHORIZATION_TYPEHASH,
                    finding.recipientHash,
                    finding.totalValue,
                    fee.maxFee,
                    fee.deadline
                )
            )
        );
        if (!SignatureChecker.isValidSignatureNow(finding.to, digest, fee.signature)) {
            revert InvalidRelayerFeeSignature();
        }
    }

    /// @dev All arguments of `verifyProof` are static, so their encoding is the row of words that the proof is.
    function _requireProof(address verifier, bytes calldata proof) private view {
        if (verifier == address(0)) revert WithdrawVerifierNotSet();
        if (proof.length != PROOF_BYTES) revert ITransferRoots.InvalidProof();
        (bool ok, bytes memory answer) =
            verifier.staticcall(bytes.concat(IWithdrawVerifier.verifyProof.selector, proof));
        if (!ok || !abi.decode(answer, (bool))) revert ITransferRoots.InvalidProof();
    }

    function _singleVerifier(bool isGlobal) private view returns (address) {
        return isGlobal ? singleWithdrawGlobalVerifier : singleWithdrawLocalVerifier;
    }

    function _batchVerifier(bool isGlobal) private view returns (address) {
        return isGlobal ? withdrawGlobalDecider : withdrawLocalDecider;
    }
}
