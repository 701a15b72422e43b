// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {IToken} from "./interfaces/IToken.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";

/// @title Keeper of a token's reserved hash chains and proved roots
/// @dev Proving and teleport come with the proof system; see `IVerifier`.
contract Verifier is IVerifier, Ownable, Pausable {
    /// @notice Root of an empty Merkle tree of height 40: Poseidon nodes over BN254, empty leaf zero.
    uint256 public constant INITIAL_TRANSFER_ROOT =
        8687547638004116013653730449839507042090717944911454416140763808366589487233;

    address public immutable override token;

    mapping(uint64 index => uint256) public override reservedHashChains;
    mapping(uint64 index => uint256) public override provedTransferRoots;
    mapping(uint256 recipientHash => uint256) public override totalTeleported;
    uint64 public override latestReservedIndex;
    uint64 public override latestProvedIndex;

    constructor(address token_, address owner_) Ownable(owner_) {
        if (token_ == address(0)) revert ZeroToken();
        token = token_;
        provedTransferRoots[0] = INITIAL_TRANSFER_ROOT;
    }

    /// @inheritdoc IVerifier
    function reserveHashChain() external override returns (uint64 index, uint256 hashChain) {
        index = _tokenIndex();
        hashChain = IToken(token).hashChain();
        if (hashChain == 0) revert ZeroHashChain(index);
        reservedHashChains[index] = hashChain;
        latestReservedIndex = index;
        emit HashChainReserved(index, hashChain);
    }

    /// @inheritdoc IVerifier
    function isUpToDate() external view override returns (bool) {
        return latestProvedIndex == _tokenIndex();
    }

    /// @inheritdoc IVerifier
    function activateEmergency() external override onlyOwner {
        _pause();
        emit ActivateEmergency();
    }

    /// @inheritdoc IVerifier
    function deactivateEmergency() external override onlyOwner {
        _unpause();
        emit DeactivateEmergency();
    }

    function _tokenIndex() private view returns (uint64) {
        return SafeCast.toUint64(IToken(token).index());
    }
}
