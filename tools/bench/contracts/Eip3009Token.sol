// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title The token that the reference facilitator settles in the benchmark
/// @notice The part of EIP-3009 that the x402 scheme `exact` uses. Anyone may mint: it is never deployed elsewhere.
contract Eip3009Token is ERC20, EIP712 {
    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    mapping(address authorizer => mapping(bytes32 nonce => bool used)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    error NotYetValid();
    error Expired();
    error AlreadyUsed();
    error WrongSigner();

    constructor(string memory name_, string memory version_) ERC20(name_, "REF") EIP712(name_, version_) {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external view returns (string memory) {
        return _EIP712Version();
    }

    // Named as the standard has it, although it is a function here.
    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        Authorization memory wanted = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transferAuthorized(wanted, ECDSA.recover(_digest(wanted), v, r, s));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        Authorization memory wanted = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transferAuthorized(wanted, ECDSA.recover(_digest(wanted), signature));
    }

    function _digest(Authorization memory wanted) private view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(TRANSFER_TYPEHASH, wanted)));
    }

    function _transferAuthorized(Authorization memory wanted, address signer) private {
        if (block.timestamp <= wanted.validAfter) revert NotYetValid();
        if (block.timestamp >= wanted.validBefore) revert Expired();
        if (authorizationState[wanted.from][wanted.nonce]) revert AlreadyUsed();
        if (signer != wanted.from) revert WrongSigner();
        authorizationState[wanted.from][wanted.nonce] = true;
        emit AuthorizationUsed(wanted.from, wanted.nonce);
        _transfer(wanted.from, wanted.to, wanted.value);
    }
}
