// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

import {IToken} from "./interfaces/IToken.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";
import {HashChain} from "./libraries/HashChain.sol";

/// @title zERC20-compatible token (generation 2 ABI)
/// @notice For local networks and deployments of one's own; a live zERC20 token is used where it already stands.
/// @dev Not upgradeable on purpose: a payer who reads this code knows that no later code can move its balance, and a
/// proxy would add a second storage layout to audit for no benefit to a deployment that can be replaced instead.
contract Token is IToken, ERC20Permit, Ownable2Step {
    uint256 public override hashChain;
    uint256 public override index;
    uint256 public override totalTeleported;
    address public override verifier;
    address public override minter;

    uint8 private immutable _decimals;

    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        ERC20(name_, symbol_)
        ERC20Permit(name_)
        Ownable(owner_)
    {
        _decimals = decimals_;
    }

    modifier onlyVerifier() {
        if (msg.sender != verifier) revert OnlyVerifier();
        _;
    }

    modifier onlyMinter() {
        if (msg.sender != minter) revert OnlyMinter();
        _;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    /// @inheritdoc IToken
    function setVerifier(address newVerifier) external override onlyOwner {
        if (newVerifier == address(0)) revert ZeroAddress();
        _requireSuccessor(newVerifier);
        verifier = newVerifier;
        emit VerifierUpdated(newVerifier);
    }

    /// @inheritdoc IToken
    function setMinter(address newMinter) external override onlyOwner {
        minter = newMinter;
        emit MinterUpdated(newMinter);
    }

    /// @inheritdoc IToken
    function mint(address to, uint256 value) external override onlyMinter {
        _mint(to, value);
    }

    /// @inheritdoc IToken
    function burn(address from, uint256 value) external override onlyMinter {
        _burn(from, value);
    }

    /// @inheritdoc IToken
    function teleport(address to, uint256 value) external override onlyVerifier {
        totalTeleported += value;
        _mint(to, value);
        emit Teleport(to, value);
    }

    /// @dev An account without code has counted nothing, so nothing is lost by replacing one. Once a contract counts, only
    /// a contract that goes on from its counts can come after it.
    function _requireSuccessor(address newVerifier) private view {
        bool counts = newVerifier.code.length != 0;
        if (counts && IVerifier(newVerifier).token() != address(this)) revert VerifierOfAnotherToken(newVerifier);
        address current = verifier;
        if (current.code.length == 0 || current == newVerifier) return;
        address predecessor = counts ? IVerifier(newVerifier).predecessor() : address(0);
        if (predecessor != current) revert WrongPredecessor(current, predecessor);
    }

    /// @dev The one place every balance change passes through, so no change can miss its leaf. A transfer of nothing
    /// changes no balance. It costs its sender only gas, and each leaf costs whoever proves roots.
    function _update(address from, address to, uint256 value) internal override {
        if (value > type(uint248).max) revert ValueTooLarge();
        super._update(from, to, value);
        if (value == 0) return;

        hashChain = HashChain.append(hashChain, from, to, value);
        emit IndexedTransfer(index++, from, to, value);
    }
}
