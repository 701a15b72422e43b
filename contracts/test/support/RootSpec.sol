// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ITransferRoots} from "../../src/interfaces/ITransferRoots.sol";
import {Token} from "../../src/Token.sol";
import {Verifier} from "../../src/Verifier.sol";
import {RootStandIn} from "./ProofStandIns.sol";
import {Spec} from "./Spec.sol";

/// @dev A token with a verifier whose root proofs are stand-ins, and the token's leaves kept aside.
abstract contract RootSpec is Spec {
    uint256 internal constant FIELD = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
    uint256 internal constant EMPTY_ROOT = 0x1334fa4b552f00ef403361c935c1abcf896851003c40daa93bb0fd0a0bb9a881;

    Token internal token;
    Verifier internal verifier;
    RootStandIn internal root16;
    RootStandIn internal root64;
    ITransferRoots.Transfer[] internal leaves;

    /// @dev The token's hash chain at every leaf count.
    uint256[] internal chains;

    function setUp() public virtual {
        token = new Token("Test zUSD", "zUSD", 6, address(this));
        token.setMinter(address(this));
        verifier = new Verifier(address(token), 8, address(this), address(0));
        token.setVerifier(address(verifier));
        root16 = new RootStandIn(16);
        root64 = new RootStandIn(64);
        verifier.setRootVerifier(address(root16));
        verifier.setRootVerifier(address(root64));
        verifier.setAllowedProver(address(this));
        chains.push(0);
    }

    /// @dev Appends leaves to the token.
    function grow(uint256 count) internal {
        for (uint256 i = 0; i < count; ++i) {
            uint256 at = leaves.length;
            ITransferRoots.Transfer memory leaf =
                ITransferRoots.Transfer(address(0), address(uint160(0xA11CE + at)), 1000 + at);
            token.mint(leaf.to, leaf.value);
            leaves.push(leaf);
            chains.push(token.hashChain());
        }
    }

    /// @dev A claim over the token's leaves, from one leaf count to a checkpoint.
    function claimOf(uint64 from, uint64 count, uint16 batch, uint256 checkpoint)
        internal
        view
        returns (ITransferRoots.RootProof memory claim)
    {
        claim.oldIndex = from;
        claim.count = count;
        claim.batch = batch;
        claim.newRoot = rootAt(from + count);
        claim.transfers = between(from, checkpoint);
        claim.proof = [uint256(1), 2, 3, 4, 5, 6, 7, 8];
    }

    function between(uint256 from, uint256 to) internal view returns (ITransferRoots.Transfer[] memory part) {
        part = new ITransferRoots.Transfer[](to - from);
        for (uint256 i = from; i < to; ++i) part[i - from] = leaves[i];
    }

    /// @dev Any number below the field's order will do for a root here.
    function rootAt(uint256 index) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode("root", index))) % FIELD;
    }

    function prove(ITransferRoots.RootProof memory claim) internal {
        verifier.proveTransferRoot(abi.encode(claim));
    }

    function refuse(ITransferRoots.RootProof memory claim, bytes memory reason) internal {
        vm.expectRevert(reason);
        verifier.proveTransferRoot(abi.encode(claim));
    }
}
