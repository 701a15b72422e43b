// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @dev The cheat codes that our tests use, of those the test runner answers.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 privateKey) external pure returns (address);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function prank(address sender) external;
    function warp(uint256 timestamp) external;
    function chainId(uint256 id) external;
    function etch(address target, bytes calldata code) external;
    function load(address target, bytes32 slot) external view returns (bytes32);
    function store(address target, bytes32 slot, bytes32 value) external;
    function expectRevert(bytes4 selector) external;
    function expectRevert(bytes calldata reason) external;
    function assume(bool condition) external pure;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
}

/// @dev Base of every Solidity test: cheat codes and assertions.
abstract contract Spec {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    error Different(string what, bytes32 actual, bytes32 expected);
    error Untrue(string what);

    function check(bool condition, string memory what) internal pure {
        if (!condition) revert Untrue(what);
    }

    function same(bytes32 actual, bytes32 expected, string memory what) internal pure {
        if (actual != expected) revert Different(what, actual, expected);
    }

    function same(uint256 actual, uint256 expected, string memory what) internal pure {
        same(bytes32(actual), bytes32(expected), what);
    }

    function same(address actual, address expected, string memory what) internal pure {
        same(uint160(actual), uint160(expected), what);
    }

    function same(bytes memory actual, bytes memory expected, string memory what) internal pure {
        same(keccak256(actual), keccak256(expected), what);
    }

    /// @dev Folds a fuzzed number into a range, bounds included.
    function within(uint256 number, uint256 low, uint256 high) internal pure returns (uint256) {
        uint256 size = high - low;
        return size == type(uint256).max ? number : low + number % (size + 1);
    }
}
