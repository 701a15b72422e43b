// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title Registry of the tokens whose roots are aggregated across chains
/// @notice Only the registry. Aggregation and the messages between chains are not here: a facilitator that mints on
/// the chain it was paid on needs neither.
interface IHub {
    /// @param chainId Chain the token lives on.
    /// @param eid Endpoint id of that chain in the cross-chain messaging layer; unique here.
    /// @param verifier The token's verifier.
    /// @param token The token.
    struct TokenInfo {
        uint64 chainId;
        uint32 eid;
        address verifier;
        address token;
    }

    /// @param index Leaf position of the token in the aggregation tree, in order of registration from zero.
    event TokenRegistered(
        uint32 indexed eid, uint256 indexed index, uint64 chainId, address token, address verifier
    );

    /// @notice All leaves of the aggregation tree are taken.
    error HubCapacityReached();
    error TokenAlreadyRegistered(uint32 eid);
    error ZeroVerifier();
    error ZeroToken();
    error InvalidChainId();

    /// @notice Owner only.
    function registerToken(TokenInfo calldata info) external;

    function getTokenInfos() external view returns (TokenInfo[] memory);

    function tokenInfos(uint256 index)
        external
        view
        returns (uint64 chainId, uint32 eid, address verifier, address token);

    /// @notice Leaf position plus one; zero when the endpoint is not registered.
    function eidToPosition(uint32 eid) external view returns (uint256);
}
