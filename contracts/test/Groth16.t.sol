// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IGroth16, IRootVerifier} from "../src/interfaces/IGroth16.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {BatchVerifier} from "../src/proofs/BatchVerifier.sol";
import {RootVerifier} from "../src/proofs/RootVerifier.sol";
import {WithdrawVerifier} from "../src/proofs/WithdrawVerifier.sol";
import {Spec} from "./support/Spec.sol";
import {ToyKey} from "./support/ToyKey.sol";

contract Groth16Test is Spec {
    WithdrawVerifier private withdraw;
    BatchVerifier private batch;
    RootVerifier private root;

    function setUp() public {
        withdraw = new WithdrawVerifier(ToyKey.make(3));
        batch = new BatchVerifier(ToyKey.make(5));
        root = new RootVerifier(ToyKey.make(6), 64);
    }

    function testFuzz_a_withdraw_proof_holds_for_its_signals_only(
        uint256[3] memory signals,
        uint256 blinding,
        uint256 which
    ) public view {
        for (uint256 i = 0; i < 3; ++i) signals[i] %= Bn254.GROUP_ORDER;
        ToyKey.Proof memory p = ToyKey.prove(_list(signals), blinding);
        check(withdraw.verifyProof(p.a, p.b, p.c, signals), "the right signals");
        which %= 3;
        signals[which] = addmod(signals[which], 1, Bn254.GROUP_ORDER);
        check(!withdraw.verifyProof(p.a, p.b, p.c, signals), "one signal changed");
    }

    function testFuzz_a_batch_proof_holds_for_its_signals_only(
        uint256[5] memory signals,
        uint256 blinding,
        uint256 which
    ) public view {
        for (uint256 i = 0; i < 5; ++i) signals[i] %= Bn254.GROUP_ORDER;
        ToyKey.Proof memory p = ToyKey.prove(_list(signals), blinding);
        check(batch.verifyProof(p.a, p.b, p.c, signals), "the right signals");
        which %= 5;
        signals[which] = addmod(signals[which], 1, Bn254.GROUP_ORDER);
        check(!batch.verifyProof(p.a, p.b, p.c, signals), "one signal changed");
    }

    function testFuzz_a_root_proof_holds_for_its_signals_only(
        uint256[6] memory signals,
        uint256 blinding,
        uint256 which
    ) public view {
        for (uint256 i = 0; i < 6; ++i) signals[i] %= Bn254.GROUP_ORDER;
        ToyKey.Proof memory p = ToyKey.prove(_list(signals), blinding);
        check(root.verifyProof(p.a, p.b, p.c, signals), "the right signals");
        which %= 6;
        signals[which] = addmod(signals[which], 1, Bn254.GROUP_ORDER);
        check(!root.verifyProof(p.a, p.b, p.c, signals), "one signal changed");
    }

    function testFuzz_a_signal_beyond_the_field_is_not_read_as_its_remainder(uint256 which) public view {
        uint256[3] memory small = [uint256(1), 2, 3];
        ToyKey.Proof memory p = ToyKey.prove(_list(small), 9);
        small[which % 3] += Bn254.GROUP_ORDER;
        check(!withdraw.verifyProof(p.a, p.b, p.c, small), "withdraw");
        uint256[5] memory five = [uint256(1), 2, 3, 4, 5];
        p = ToyKey.prove(_list(five), 9);
        five[which % 5] += Bn254.GROUP_ORDER;
        check(!batch.verifyProof(p.a, p.b, p.c, five), "batch");
        uint256[6] memory signals = [uint256(1), 2, 3, 4, 5, 6];
        p = ToyKey.prove(_list(signals), 9);
        signals[which % 6] += Bn254.GROUP_ORDER;
        check(!root.verifyProof(p.a, p.b, p.c, signals), "root");
    }

    function testFuzz_a_proof_with_one_changed_word_does_not_hold_and_does_not_revert(uint256 which, uint256 change)
        public
        view
    {
        uint256[3] memory signals = [uint256(1), 2, 3];
        ToyKey.Proof memory p = ToyKey.prove(_list(signals), 9);
        change = within(change, 1, type(uint256).max);
        which %= 8;
        unchecked {
            if (which < 2) p.a[which] += change;
            else if (which < 4) p.b[0][which - 2] += change;
            else if (which < 6) p.b[1][which - 4] += change;
            else p.c[which - 6] += change;
        }
        check(!withdraw.verifyProof(p.a, p.b, p.c, signals), "a changed word");
    }

    function test_neutral_points_prove_nothing() public view {
        uint256[3] memory signals = [uint256(1), 2, 3];
        uint256[2] memory none;
        uint256[2][2] memory none2;
        check(!withdraw.verifyProof(none, none2, none, signals), "all neutral");
        check(!withdraw.verifyProof(none, ToyKey.generator(), none, signals), "neutral in G1");
    }

    function test_the_hash_of_a_key_covers_all_its_words_in_order() public view {
        IGroth16.VerificationKey memory key = ToyKey.make(3);
        bytes memory words = abi.encode(key.alpha, key.beta, key.gamma, key.delta);
        for (uint256 i = 0; i < key.ic.length; ++i) words = bytes.concat(words, abi.encode(key.ic[i]));
        same(words.length, 32 * (2 + 3 * 4 + 2 * 4), "length");
        same(withdraw.verificationKeyHash(), keccak256(words), "withdraw");
        check(root.verificationKeyHash() != keccak256(words), "another key, another hash");
    }

    function test_a_root_verifier_knows_its_batch_which_is_a_power_of_two() public {
        same(root.batch(), 64, "batch");
        IGroth16.VerificationKey memory key = ToyKey.make(6);
        uint16[3] memory bad = [uint16(0), 3, 65535];
        for (uint256 i = 0; i < bad.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IRootVerifier.InvalidBatch.selector, bad[i]));
            new RootVerifier(key, bad[i]);
        }
    }

    function test_a_key_for_another_number_of_signals_is_refused() public {
        IGroth16.VerificationKey memory three = ToyKey.make(3);
        IGroth16.VerificationKey memory six = ToyKey.make(6);
        vm.expectRevert(abi.encodeWithSelector(IGroth16.WrongKeyLength.selector, 4, 7));
        new WithdrawVerifier(six);
        vm.expectRevert(abi.encodeWithSelector(IGroth16.WrongKeyLength.selector, 6, 7));
        new BatchVerifier(six);
        vm.expectRevert(abi.encodeWithSelector(IGroth16.WrongKeyLength.selector, 7, 4));
        new RootVerifier(three, 16);
    }

    function test_a_key_that_nobody_contributed_to_is_refused() public {
        IGroth16.VerificationKey memory key = ToyKey.make(3);
        key.delta = key.gamma;
        vm.expectRevert(IGroth16.UnfinishedKey.selector);
        new WithdrawVerifier(key);
    }

    function test_a_key_with_delta_opposite_to_gamma_is_refused() public {
        IGroth16.VerificationKey memory key = ToyKey.make(3);
        key.delta = IGroth16.G2(
            key.gamma.xImaginary,
            key.gamma.xReal,
            Bn254.FIELD_ORDER - key.gamma.yImaginary,
            Bn254.FIELD_ORDER - key.gamma.yReal
        );
        vm.expectRevert(IGroth16.UnfinishedKey.selector);
        new WithdrawVerifier(key);
    }

    function testFuzz_a_key_with_a_point_off_the_curve_is_refused(uint256 which, uint256 change) public {
        IGroth16.VerificationKey memory key = ToyKey.make(3);
        change = within(change, 1, type(uint256).max);
        which %= 8;
        unchecked {
            if (which < 4) key.ic[which].y += change;
            else if (which == 4) key.alpha.x += change;
            else if (which == 5) key.beta.xReal += change;
            else if (which == 6) key.gamma.yImaginary += change;
            else key.delta.yReal += change;
        }
        vm.expectRevert(IGroth16.InvalidKeyPoint.selector);
        new WithdrawVerifier(key);
    }

    function test_a_key_with_a_neutral_point_is_refused() public {
        for (uint256 which = 0; which < 5; ++which) {
            IGroth16.VerificationKey memory key = ToyKey.make(3);
            if (which == 0) key.alpha = IGroth16.G1(0, 0);
            else if (which == 1) key.beta = IGroth16.G2(0, 0, 0, 0);
            else if (which == 2) key.gamma = IGroth16.G2(0, 0, 0, 0);
            else if (which == 3) key.delta = IGroth16.G2(0, 0, 0, 0);
            else key.ic[3] = IGroth16.G1(0, 0);
            vm.expectRevert(IGroth16.InvalidKeyPoint.selector);
            new WithdrawVerifier(key);
        }
    }

    /// @dev On the curve over the extension field, but outside the group of the right order: a cofactor attack.
    function test_a_key_with_a_point_outside_the_group_is_refused() public {
        IGroth16.VerificationKey memory key = ToyKey.make(3);
        key.beta = IGroth16.G2(
            0,
            1,
            0x2351dcdda257b62181cbd745dfee16d5fdf4eb185bbcf33c20a0fe6eaa9cb4a3,
            0x07fb3d558dafafb6bf6dd326a5fefe0beca3f9ac3bd999a390d504fad34b0b8c
        );
        vm.expectRevert(IGroth16.InvalidKeyPoint.selector);
        new WithdrawVerifier(key);
    }

    function _list(uint256[3] memory signals) private pure returns (uint256[] memory list) {
        list = new uint256[](3);
        for (uint256 i = 0; i < 3; ++i) list[i] = signals[i];
    }

    function _list(uint256[5] memory signals) private pure returns (uint256[] memory list) {
        list = new uint256[](5);
        for (uint256 i = 0; i < 5; ++i) list[i] = signals[i];
    }

    function _list(uint256[6] memory signals) private pure returns (uint256[] memory list) {
        list = new uint256[](6);
        for (uint256 i = 0; i < 6; ++i) list[i] = signals[i];
    }
}
