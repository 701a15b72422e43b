// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ISvcPermitBurner} from "../../src/interfaces/ISvcPermitBurner.sol";
import {SvcPermitBurner} from "../../src/SvcPermitBurner.sol";
import {Token} from "../../src/Token.sol";
import {Spec, Vm} from "./Spec.sol";

/// @dev A funded payer, a burner, and requests signed the way a payer signs them.
abstract contract BurnSpec is Spec {
    bytes32 internal constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 internal constant CHALLENGE = keccak256("challenge");
    address internal constant BURN_ADDRESS = 0x0DEA5615eDC426120bd1e2A2b6f71E9610de1aa0;
    uint256 internal constant PAYER_KEY = 0xA11CE;
    uint256 internal constant STRANGER_KEY = 0xBAD;
    uint256 internal constant FUNDS = 1_000_000;
    uint256 internal constant VALUE = 1_234;
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant DEADLINE = NOW + 300;

    SvcPermitBurner internal burner;
    Token internal token;
    address internal payer;

    function setUp() public virtual {
        vm.warp(NOW);
        payer = vm.addr(PAYER_KEY);
        burner = new SvcPermitBurner();
        token = new Token("Test zUSD", "zUSD", 6, address(this));
        token.setMinter(address(this));
        token.mint(payer, FUNDS);
    }

    function authorizationOf(address token_, bytes32 challengeNonce)
        internal
        view
        returns (ISvcPermitBurner.BurnAuthorization memory)
    {
        return ISvcPermitBurner.BurnAuthorization(token_, payer, BURN_ADDRESS, VALUE, challengeNonce, DEADLINE);
    }

    /// @dev A payer's usual request: the usual token, value and burn address.
    function requestOf(bytes32 challengeNonce) internal view returns (ISvcPermitBurner.BurnRequest memory) {
        return signed(authorizationOf(address(token), challengeNonce), PAYER_KEY, token.nonces(payer));
    }

    /// @dev A request at a token whose permit looks at nothing.
    function looseRequestOf(address loose, bytes32 challengeNonce)
        internal
        view
        returns (ISvcPermitBurner.BurnRequest memory request)
    {
        request.authorization = authorizationOf(loose, challengeNonce);
        request.burnAuthSig = authSignature(request.authorization, PAYER_KEY);
    }

    function signed(ISvcPermitBurner.BurnAuthorization memory authorization, uint256 key, uint256 permitNonce)
        internal
        view
        returns (ISvcPermitBurner.BurnRequest memory request)
    {
        request.authorization = authorization;
        request.burnAuthSig = authSignature(authorization, key);
        (request.v, request.r, request.s) = vm.sign(key, permitDigest(authorization, permitNonce));
    }

    function permitDigest(ISvcPermitBurner.BurnAuthorization memory authorization, uint256 permitNonce)
        internal
        view
        returns (bytes32)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                PERMIT_TYPEHASH,
                authorization.payer,
                address(burner),
                authorization.value,
                permitNonce,
                authorization.deadline
            )
        );
        return keccak256(bytes.concat(hex"1901", token.DOMAIN_SEPARATOR(), structHash));
    }

    function authSignature(ISvcPermitBurner.BurnAuthorization memory authorization, uint256 key)
        internal
        view
        returns (bytes memory)
    {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, burner.authorizationDigest(authorization));
        return bytes.concat(r, s, bytes1(v));
    }

    function executed(ISvcPermitBurner.BurnRequest memory request) internal view returns (bool) {
        ISvcPermitBurner.BurnAuthorization memory it = request.authorization;
        return burner.executed(it.token, it.payer, it.burnAddress, it.value, it.challengeNonce);
    }

    /// @dev Runs the request, which must fail with exactly this revert data, and checks that nothing moved.
    function refuses(ISvcPermitBurner.BurnRequest memory request, bytes memory reason) internal {
        uint256 leaves = token.index();
        vm.expectRevert(reason);
        burner.burn(request);
        check(!executed(request), "a refused burn is in the ledger");
        same(token.index(), leaves, "leaves");
    }

    /// @dev Reason of the only `BurnFailed` that names this nonce among the recorded logs.
    function failureOf(Vm.Log[] memory logs, bytes32 challengeNonce) internal pure returns (bytes memory reason) {
        uint256 found = 0;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != ISvcPermitBurner.BurnFailed.selector || logs[i].topics[1] != challengeNonce) continue;
            reason = abi.decode(logs[i].data, (bytes));
            ++found;
        }
        same(found, 1, "failures of this nonce");
    }

    function countOf(Vm.Log[] memory logs, bytes32 topic) internal pure returns (uint256 count) {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] == topic) ++count;
        }
    }
}
