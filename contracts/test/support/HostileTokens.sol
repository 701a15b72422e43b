// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @dev Accepts any permit and keeps balances; what differs between the tokens below is the transfer.
abstract contract LooseToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function give(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function permit(address owner, address spender, uint256 value, uint256, uint8, bytes32, bytes32) external virtual {
        allowance[owner][spender] = value;
    }

    function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
        _move(from, to, value, value);
        return true;
    }

    function _move(address from, address to, uint256 taken, uint256 given) internal {
        balanceOf[from] -= taken;
        balanceOf[to] += given;
    }
}

/// @dev Delivers another amount than it takes, down to nothing at all.
contract FeeToken is LooseToken {
    int256 public immutable surplus;

    constructor(int256 surplus_) {
        surplus = surplus_;
    }

    function transferFrom(address from, address to, uint256 value) external override returns (bool) {
        _move(from, to, value, uint256(int256(value) + surplus));
        return true;
    }
}

/// @dev Says no in the way of old tokens: by its answer instead of a revert.
contract RefusingToken is LooseToken {
    function transferFrom(address, address, uint256) external pure override returns (bool) {
        return false;
    }
}

/// @dev Moves the value and answers nothing, as some old tokens do.
contract SilentToken {
    mapping(address => uint256) public balanceOf;

    function give(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external {}

    function transferFrom(address from, address to, uint256 value) external {
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}

/// @dev Calls back into the burner with a prepared call while it is being transferred.
contract ReentrantToken is LooseToken {
    address private target;
    bytes private callback;
    bytes public outcome;

    function prepare(address target_, bytes calldata callback_) external {
        (target, callback) = (target_, callback_);
    }

    function transferFrom(address from, address to, uint256 value) external override returns (bool) {
        (bool ok, bytes memory data) = target.call(callback);
        outcome = ok ? bytes("entered") : data;
        _move(from, to, value, value);
        return true;
    }
}

/// @dev Reverts with as much data as it was told to, in its permit or in its transfer.
contract BombToken is LooseToken {
    uint256 private immutable length;
    bool private immutable inPermit;

    constructor(uint256 length_, bool inPermit_) {
        (length, inPermit) = (length_, inPermit_);
    }

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external view override {
        if (inPermit) _explode();
    }

    function transferFrom(address, address, uint256) external view override returns (bool) {
        _explode();
        return false;
    }

    function _explode() private view {
        uint256 size = length;
        assembly ("memory-safe") {
            revert(mload(0x40), size)
        }
    }
}

/// @dev Uses up all gas it is given.
contract GluttonToken is LooseToken {
    function transferFrom(address, address, uint256) external pure override returns (bool) {
        while (true) {}
        return false;
    }
}

/// @dev Writes down how much gas it was called with.
contract MeterToken is LooseToken {
    uint256 public gasSeen;

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external override {
        gasSeen = gasleft();
    }
}

/// @dev Refuses accounts on a list, as live tokens do.
contract BlocklistToken is LooseToken {
    error AddressIsBlocked(address account);

    function transferFrom(address from, address, uint256) external pure override returns (bool) {
        revert AddressIsBlocked(from);
    }
}
