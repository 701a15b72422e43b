// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title The SHA-256 chain over a token's leaves (generation 2)
library HashChain {
    /// @dev The top byte is cleared so that the chain fits a field element of the proof system.
    function append(uint256 chain, address from, address to, uint256 value) internal pure returns (uint256) {
        return uint256(sha256(abi.encodePacked(chain, from, to, value))) & type(uint248).max;
    }
}
