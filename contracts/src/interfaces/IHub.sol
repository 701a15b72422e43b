// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title Aggregation of the transfer roots of several tokens into one
/// @notice The tokens of a hub are one asset: a burn of one of them can be minted by any other. Each chain has one token
/// at most, because a burn names the chain to mint on and nothing narrower, and each verifier counts only its own
/// mints: two verifiers on a chain would both mint it. Roots arrive from and go to the verifier on this chain, by plain
/// calls. A token on another chain can be registered and keeps its place, but nothing carries its root here.
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

    event TokenUpdated(
        uint32 indexed eid, uint256 indexed index, uint64 chainId, address token, address verifier
    );

    /// @param index Leaf position of the token.
    event TransferRootUpdated(uint32 indexed eid, uint256 indexed index, uint256 newRoot);

    event AggregationRootUpdated(
        uint256 indexed root,
        uint64 indexed aggSeq,
        uint256[] transferRootsSnapshot,
        uint64[] transferTreeIndicesSnapshot
    );

    /// @notice All leaves of the aggregation tree are taken.
    error HubCapacityReached();
    error TokenAlreadyRegistered(uint32 eid);

    /// @notice Another token of this chain has a leaf. A burn of either could be minted by both.
    error ChainAlreadyRegistered(uint64 chainId);
    error TokenNotRegistered(uint32 eid);
    error ZeroVerifier();
    error ZeroToken();
    error InvalidChainId();

    /// @notice The last verifier of this chain is another one than the new verifier's predecessor. Burns that it minted
    /// could be minted again.
    error WrongPredecessor(address expected, address actual);

    /// @notice The verifier is that of another token.
    error WrongToken(address expected, address actual);

    /// @notice The root is no field element.
    error InvalidTransferRoot(uint256 root);

    /// @notice The caller is not the verifier of the registered token of this chain.
    error UnknownVerifier(address caller);

    /// @notice The token lives on another chain, which nothing here can reach.
    error OtherChain(uint32 eid);

    /// @notice Owner only; one token for each chain.
    /// @dev On this chain, a verifier that comes after another has to name it as its predecessor, whatever became of the
    /// entry in between: the burns that the former one minted are still under the other leaves.
    function registerToken(TokenInfo calldata info) external;

    /// @notice Owner only: replaces the entry of an endpoint. Its leaf is empty until the new verifier relays.
    function updateToken(TokenInfo calldata info) external;

    /// @notice For the verifier of this chain's token: its latest proved root.
    /// @param index Leaf count of the root.
    function updateTransferRoot(uint256 root, uint64 index) external;

    /// @notice For the verifier of this chain's token: empties its leaf. Anyone else has none, and nothing happens.
    function clearTransferRoot() external;

    /// @notice Gives the aggregation root to the verifiers of these endpoints. Open to anyone. When a leaf changed
    /// since the last time, the root is computed again and gets the next sequence number.
    /// @dev A leaf is emptied first when its verifier is paused or has another root there by now, so nothing of it
    /// enters an aggregation; it comes back by `relayTransferRoot`.
    /// @param lzOptions For messages between chains; ignored.
    function broadcast(uint32[] calldata eids, bytes calldata lzOptions) external;

    /// @notice What `broadcast` costs beside gas: nothing.
    function quoteBroadcast(uint32[] calldata eids, bytes calldata lzOptions) external view returns (uint256);

    function getTokenInfos() external view returns (TokenInfo[] memory);

    /// @notice Root and leaf count of each token, in order of position; zero for those that never relayed.
    function getTransferRootsAndIndices() external view returns (uint256[] memory roots, uint64[] memory indices);

    function tokenInfos(uint256 index)
        external
        view
        returns (uint64 chainId, uint32 eid, address verifier, address token);

    function transferRoots(uint256 index) external view returns (uint256);

    function transferTreeIndices(uint256 index) external view returns (uint64);

    /// @notice Leaf position plus one; zero when the endpoint is not registered.
    function eidToPosition(uint32 eid) external view returns (uint256);

    /// @notice Root of an empty subtree of the aggregation tree, by height from zero to six.
    function zeroHash(uint256 height) external view returns (uint256);

    /// @notice Sequence number of the latest aggregation root; zero before the first.
    function aggSeq() external view returns (uint64);

    /// @notice The latest aggregation root; zero before the first.
    function aggregationRoot() external view returns (uint256);

    /// @notice Whether the latest aggregation root covers every root that arrived.
    function isUpToDate() external view returns (bool);
}
