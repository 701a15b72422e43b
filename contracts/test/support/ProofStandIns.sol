// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @dev In place of a root verifier: tells which signals it wants to see, for tests of what surrounds the proof.
contract RootStandIn {
    uint16 public immutable batch;
    bytes32 private _wanted;

    constructor(uint16 batch_) {
        batch = batch_;
    }

    /// @dev Zero, as at first: anything holds.
    function want(uint256[6] memory signals) external {
        _wanted = keccak256(abi.encode(signals));
    }

    function verifyProof(uint256[2] memory, uint256[2][2] memory, uint256[2] memory, uint256[6] memory signals)
        external
        view
        returns (bool)
    {
        return _wanted == 0 || _wanted == keccak256(abi.encode(signals));
    }
}

/// @dev In place of a withdraw verifier: a proof whose first word is not zero holds.
contract WithdrawStandIn {
    function verifyProof(uint256[2] memory a, uint256[2][2] memory, uint256[2] memory, uint256[3] memory)
        external
        pure
        returns (bool)
    {
        return a[0] != 0;
    }
}

/// @dev In place of a batch verifier: a proof is the hash of its signals, in eight words that count up from there.
contract BatchStandIn {
    function verifyProof(
        uint256[2] memory a,
        uint256[2][2] memory b,
        uint256[2] memory c,
        uint256[5] memory signals
    ) external pure returns (bool) {
        return keccak256(abi.encode(a, b, c)) == keccak256(abi.encode(proofOf(signals)));
    }

    function proofOf(uint256[5] memory signals) public pure returns (uint256[8] memory proof) {
        uint256 first = uint256(keccak256(abi.encode(signals))) >> 1;
        for (uint256 i = 0; i < 8; ++i) proof[i] = first + i;
    }
}

/// @dev A recipient that is a contract and accepts one signature by ERC-1271.
contract ContractRecipient {
    bytes4 private constant ACCEPTED = 0x1626ba7e;
    bytes32 private immutable _accepted;

    constructor(bytes memory signature) {
        _accepted = keccak256(signature);
    }

    function isValidSignature(bytes32, bytes memory signature) external view returns (bytes4) {
        return keccak256(signature) == _accepted ? ACCEPTED : bytes4(0);
    }
}
