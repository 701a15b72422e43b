// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IBatchTeleports} from "./IBatchTeleports.sol";
import {ITransferRoots} from "./ITransferRoots.sol";

/// @title Verifier of a zERC20-compatible token (generation 2 ABI)
/// @notice What one chain needs of it. A hub on the same chain is called directly; there are no messages between
/// chains, hence no fees, options or refunds.
/// @dev All value rests on the proof verifiers. Under keys of a development setup, whoever ran the setup can forge
/// roots and mints.
interface IVerifier is ITransferRoots, IBatchTeleports {
    event TransferRootRelayed(uint64 indexed index, uint256 root, bytes lzMsgId);
    event GlobalRootSaved(uint64 indexed aggSeq, uint256 root);
    event GlobalRootRevoked(uint64 indexed aggSeq, uint256 root);

    /// @notice Every aggregation root up to this sequence number was revoked, because a proved root was.
    event GlobalRootsRevoked(uint64 indexed aggSeq);
    event HubSet(address hub);
    event VerifiersSet(
        address rootDecider,
        address withdrawGlobalDecider,
        address withdrawLocalDecider,
        address singleWithdrawGlobalVerifier,
        address singleWithdrawLocalVerifier
    );
    event ActivateEmergency();
    event DeactivateEmergency();

    error ZeroToken();
    error ZeroAddress();

    /// @notice No root above the empty one is proved.
    error NoProvedRoot();
    error HubNotSet();
    error OnlyHub();

    /// @notice The aggregation root of this sequence number was revoked and cannot come back.
    error RevokedGlobalRoot(uint64 aggSeq);

    /// @notice The token has a verifier already, and it is not the predecessor that was given.
    error WrongPredecessor(address expected, address actual);

    /// @notice Token whose leaves are proved here.
    function token() external view returns (address);

    /// @notice Zero bits that the withdraw circuits demand of a burn address.
    function powBits() external view returns (uint8);

    /// @notice Height of the transfer tree.
    function treeHeight() external view returns (uint8);

    /// @notice The hub on this chain; zero when there is none.
    function hub() external view returns (address);

    /// @notice Aggregation root of a sequence number; zero when it was not received or is revoked.
    function globalTransferRoots(uint64 aggSeq) external view returns (uint256);

    /// @notice Whether the aggregation root of this sequence number was revoked, by itself or with a proved root.
    function isGlobalRootRevoked(uint64 aggSeq) external view returns (bool);

    function latestAggSeq() external view returns (uint64);

    /// @notice Leaf count of the root that the hub has from here; zero when it has none.
    function latestRelayedIndex() external view returns (uint64);

    /// @notice Hands the latest proved root to the hub. Open to anyone; not while paused.
    /// @param lzOptions For messages between chains; ignored.
    function relayTransferRoot(bytes calldata lzOptions) external;

    /// @notice What `relayTransferRoot` costs beside gas: nothing.
    function quoteRelay(bytes calldata lzOptions) external view returns (uint256 nativeFee, uint256 lzTokenFee);

    /// @notice Hub only: an aggregation root. Not while paused, so that what has to be revoked cannot grow meanwhile;
    /// the hub hands its latest root to whoever broadcasts afterwards.
    function saveGlobalRoot(uint256 root, uint64 aggSeq) external;

    /// @notice Owner only, only while paused: the way out when a bad aggregation root came from elsewhere. It is
    /// forgotten and not taken again. `revokeRoot` revokes those that a root of this verifier went into.
    function revokeGlobalRoot(uint64 aggSeq) external;

    /// @notice Owner only; zero unlinks. Of another hub, too, no sequence number is taken that was revoked before.
    function setHub(address newHub) external;

    /// @notice Owner only. The batch deciders may be zero: then `teleport` is refused.
    /// @param rootDecider_ A root verifier, put in the place of its batch size.
    function setVerifiers(
        address rootDecider_,
        address withdrawGlobalDecider_,
        address withdrawLocalDecider_,
        address singleWithdrawGlobalVerifier_,
        address singleWithdrawLocalVerifier_
    ) external;

    /// @notice Owner only; zero refuses batches. All counts begin at zero again.
    function setBatchVerifier(address verifier) external;

    /// @notice Owner only: pauses what proofs do. Transfers and `reserveHashChain` go on.
    function activateEmergency() external;

    /// @notice Owner only.
    function deactivateEmergency() external;
}
