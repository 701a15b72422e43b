// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {IGroth16} from "../../src/interfaces/IGroth16.sol";
import {Bn254} from "../../src/libraries/Bn254.sol";

/// @dev A key whose secret is known, so that a test can prove anything: what a development setup lets its maker do.
/// alpha = 7 G1, beta = 2 G2, gamma = 3 G2, delta = 5 G2, and the i-th signal point is (11 + i) G1.
library ToyKey {
    uint256 private constant INVERSE_OF_FIVE =
        8755297148735710088898562298102910035419345760166413737479281674630323398247;

    struct Proof {
        uint256[2] a;
        uint256[2][2] b;
        uint256[2] c;
    }

    function make(uint256 signals) internal view returns (IGroth16.VerificationKey memory key) {
        key.alpha = point(7);
        key.beta = IGroth16.G2(
            0x203e205db4f19b37b60121b83a7333706db86431c6d835849957ed8c3928ad79,
            0x27dc7234fd11d3e8c36c59277c3e6f149d5cd3cfa9a62aee49f8130962b4b3b9,
            0x195e8aa5b7827463722b8c153931579d3505566b4edf48d498e185f0509de152,
            0x04bb53b8977e5f92a0bc372742c4830944a59b4fe6b1c0466e2a6dad122b5d2e
        );
        key.gamma = IGroth16.G2(
            0x1014772f57bb9742735191cd5dcfe4ebbc04156b6878a0a7c9824f32ffb66e85,
            0x06064e784db10e9051e52826e192715e8d7e478cb09a5e0012defa0694fbc7f5,
            0x021e2335f3354bb7922ffcc2f38d3323dd9453ac49b55441452aeaca147711b2,
            0x058e1d5681b5b9e0074b0f9c8d2c68a069b920d74521e79765036d57666c5597
        );
        key.delta = IGroth16.G2(
            0x0a09ccf561b55fd99d1c1208dee1162457b57ac5af3759d50671e510e428b2a1,
            0x2e539c423b302d13f4e5773c603948eaf5db5df8ae8a9a9113708390a06410d8,
            0x19b763513924a736e4eebd0d78c91c1bc1d657fee4214057d21414011cfcc763,
            0x2f8d9f9ab83727c77a2fec063cb7b6e5eb23044ccf535ad49d46d394fb6f6bf6
        );
        key.ic = new IGroth16.G1[](signals + 1);
        for (uint256 i = 0; i <= signals; ++i) key.ic[i] = point(11 + i);
    }

    /// @dev With B = G2 the equation is a = 14 + 3 input + 5 c in the exponents.
    function prove(uint256[] memory signals, uint256 blinding) internal view returns (Proof memory proof) {
        uint256 sum = 11;
        for (uint256 i = 0; i < signals.length; ++i) {
            sum = addmod(sum, mulmod(12 + i, signals[i], Bn254.GROUP_ORDER), Bn254.GROUP_ORDER);
        }
        uint256 known = addmod(14, mulmod(3, sum, Bn254.GROUP_ORDER), Bn254.GROUP_ORDER);
        uint256 a = 1 + blinding % (Bn254.GROUP_ORDER - 1);
        uint256 c = mulmod(addmod(a, Bn254.GROUP_ORDER - known, Bn254.GROUP_ORDER), INVERSE_OF_FIVE, Bn254.GROUP_ORDER);
        proof.a = abi.decode(Bn254.multiply(1, 2, a), (uint256[2]));
        proof.b = generator();
        proof.c = abi.decode(Bn254.multiply(1, 2, c), (uint256[2]));
    }

    /// @dev The generator of G2, imaginary limbs first.
    function generator() internal pure returns (uint256[2][2] memory) {
        return [
            [
                0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2,
                0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed
            ],
            [
                0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b,
                0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa
            ]
        ];
    }

    function point(uint256 scalar) internal view returns (IGroth16.G1 memory) {
        return abi.decode(Bn254.multiply(1, 2, scalar), (IGroth16.G1));
    }
}
