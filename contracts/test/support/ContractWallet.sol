// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @dev A wallet that is a contract (ERC-1271) and has one owner. It can also be told to misbehave.
contract ContractWallet {
    enum Mood {
        Honest,
        Refuses,
        Reverts,
        Garbage,
        Huge,
        Spins
    }

    address public immutable owner;
    Mood public mood;

    constructor(address owner_) {
        owner = owner_;
    }

    function setMood(Mood mood_) external {
        mood = mood_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (mood == Mood.Refuses) return 0xffffffff;
        if (mood == Mood.Reverts) revert("not now");
        // The magic value, and then something that an honest wallet never says.
        if (mood == Mood.Garbage) _say(abi.encodePacked(this.isValidSignature.selector));
        if (mood == Mood.Huge) _say(abi.encode(this.isValidSignature.selector, new bytes(100_000)));
        while (mood == Mood.Spins) {}
        return _signer(hash, signature) == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    function _signer(bytes32 hash, bytes calldata signature) private pure returns (address) {
        if (signature.length != 65) return address(0);
        return ecrecover(hash, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
    }

    /// @dev Answers with exactly these bytes.
    function _say(bytes memory answer) private pure {
        assembly ("memory-safe") {
            return(add(answer, 32), mload(answer))
        }
    }
}
