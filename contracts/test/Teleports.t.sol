// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

import {ITeleports} from "../src/interfaces/ITeleports.sol";
import {IToken} from "../src/interfaces/IToken.sol";
import {ITransferRoots} from "../src/interfaces/ITransferRoots.sol";
import {ContractRecipient, WithdrawStandIn} from "./support/ProofStandIns.sol";
import {RootSpec} from "./support/RootSpec.sol";
import {Vm} from "./support/Spec.sol";

contract TeleportsTest is RootSpec {
    uint256 private constant RECIPIENT_KEY = 0xBEEF;
    address private constant RELAYER = address(0x4E1A);

    ITeleports.GeneralRecipient private gr;
    address private recipient;

    function setUp() public override {
        super.setUp();
        address withdraw = address(new WithdrawStandIn());
        verifier.setVerifiers(address(root64), address(0), address(0), withdraw, withdraw);
        grow(5);
        verifier.reserveHashChain();
        prove(claimOf(0, 5, 16, 5));
        recipient = vm.addr(RECIPIENT_KEY);
        gr = ITeleports.GeneralRecipient(uint64(block.chainid), bytes32(uint256(uint160(recipient))), keccak256("tweak"));
    }

    function testFuzz_mints_what_was_not_minted_before(uint256 first, uint256 second, address caller) public {
        first = within(first, 1, type(uint128).max);
        second = within(second, first + 1, type(uint248).max);
        bytes memory proof = _proof(first);
        vm.recordLogs();
        vm.prank(caller);
        verifier.singleTeleport(false, 5, gr, proof);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        same(logs[0].emitter, address(verifier), "emitter");
        same(
            logs[0].topics[0],
            keccak256("Teleport(address,uint256,bool,uint64,uint256,(uint64,bytes32,bytes32))"),
            "topic"
        );
        same(logs[0].topics[1], gr.recipient, "logged recipient");
        same(logs[0].data, abi.encode(first, false, uint64(5), rootAt(5), gr), "logged data");
        same(token.balanceOf(recipient), first, "first mint");

        verifier.singleTeleport(false, 5, gr, _proof(second));
        same(token.balanceOf(recipient), second, "only the difference");
        same(verifier.totalTeleported(_hash()), second, "total");
    }

    function testFuzz_nothing_is_minted_twice(uint256 value, uint256 less) public {
        value = within(value, 1, type(uint248).max);
        less = within(less, 0, value);
        verifier.singleTeleport(false, 5, gr, _proof(value));
        _refuse(gr, 5, _proof(less), abi.encodeWithSelector(ITeleports.NothingToWithdraw.selector, value, less));
        verifier.setHub(address(this));
        verifier.saveGlobalRoot(rootAt(5), 1);
        bytes memory proof = _proof(value);
        vm.expectRevert(abi.encodeWithSelector(ITeleports.NothingToWithdraw.selector, value, value));
        verifier.singleTeleport(true, 1, gr, proof);
    }

    function test_a_proof_of_nothing_mints_nothing() public {
        _refuse(gr, 5, _proof(0), abi.encodeWithSelector(ITeleports.NothingToWithdraw.selector, 0, 0));
    }

    function test_a_value_of_more_than_248_bits_is_the_tokens_to_refuse() public {
        _refuse(gr, 5, _proof(1 << 248), abi.encodePacked(IToken.ValueTooLarge.selector));
    }

    function testFuzz_a_root_must_be_known_and_the_proofs_own(uint64 hint) public {
        vm.assume(hint != 5 && hint != 0);
        _refuse(gr, hint, _proof(1), abi.encodeWithSelector(ITeleports.ExpectedRootZero.selector, hint));
        _refuse(
            gr, 0, _proof(1), abi.encodeWithSelector(ITeleports.TransferRootMismatch.selector, EMPTY_ROOT, rootAt(5))
        );
        bytes memory proof = _proof(1);
        vm.expectRevert(abi.encodeWithSelector(ITeleports.ExpectedRootZero.selector, 5));
        verifier.singleTeleport(true, 5, gr, proof);
    }

    function testFuzz_a_recipient_is_the_one_the_proof_is_for(uint64 chainId, bytes32 to, bytes32 tweak) public {
        ITeleports.GeneralRecipient memory other = ITeleports.GeneralRecipient(chainId, to, tweak);
        uint256 hash = verifier.recipientHashOf(other);
        vm.assume(hash != _hash());
        _refuse(
            other, 5, _proof(1), abi.encodeWithSelector(ITeleports.RecipientMismatch.selector, hash, _hash())
        );
    }

    function testFuzz_a_mint_for_another_chain_is_refused_here(uint64 chainId) public {
        vm.assume(chainId != block.chainid);
        gr.chainId = chainId;
        bytes memory reason = abi.encodeWithSelector(
            ITeleports.InvalidRecipientChainId.selector, uint64(block.chainid), chainId
        );
        _refuse(gr, 5, _proof(1), reason);
    }

    function testFuzz_a_proof_of_another_length_or_that_does_not_hold_is_refused(uint256 length) public {
        bytes memory proof = _proof(1);
        length = within(length, 0, 1000);
        vm.assume(length != proof.length);
        _refuse(gr, 5, new bytes(length), abi.encodePacked(ITransferRoots.InvalidProof.selector));
        _refuse(gr, 5, bytes.concat(proof, hex"00"), abi.encodePacked(ITransferRoots.InvalidProof.selector));
        proof[31] = 0;
        _refuse(gr, 5, proof, abi.encodePacked(ITransferRoots.InvalidProof.selector));
    }

    function test_mints_of_batches_wait_for_their_verifiers() public {
        bytes memory proof = _proof(9);
        vm.expectRevert(ITeleports.WithdrawVerifierNotSet.selector);
        verifier.teleport(false, 5, gr, proof);
        ITeleports.RelayerFee memory fee = _fee(1, 2, 9);
        vm.expectRevert(ITeleports.WithdrawVerifierNotSet.selector);
        verifier.teleport(true, 5, gr, proof, fee);

        address withdraw = address(new WithdrawStandIn());
        verifier.setVerifiers(address(root64), withdraw, withdraw, withdraw, withdraw);
        verifier.teleport(false, 5, gr, proof);
        verifier.teleport(false, 5, gr, _proof(10), _fee(1, 2, 10));
        same(token.balanceOf(recipient), 9, "all of the second went to the submitter");
        same(token.balanceOf(address(this)), 1, "fee");
    }

    function test_a_pause_stops_every_mint() public {
        verifier.activateEmergency();
        bytes memory proof = _proof(1);
        ITeleports.RelayerFee memory fee = _fee(0, 0, 1);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.singleTeleport(false, 5, gr, proof);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.singleTeleport(false, 5, gr, proof, fee);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.teleport(false, 5, gr, proof);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        verifier.teleport(false, 5, gr, proof, fee);
    }

    function testFuzz_the_submitter_takes_the_fee_that_the_recipient_signed(uint256 value, uint256 fee, uint256 max)
        public
    {
        value = within(value, 1, type(uint248).max);
        fee = within(fee, 0, value);
        max = within(max, fee, type(uint256).max);
        ITeleports.RelayerFee memory consent = _fee(fee, max, value);
        bytes memory proof = _proof(value);
        vm.recordLogs();
        vm.prank(RELAYER);
        verifier.singleTeleport(false, 5, gr, proof, consent);
        Vm.Log memory log = vm.getRecordedLogs()[0];
        same(
            log.topics[0],
            keccak256(
                "TeleportWithRelayerFee(address,address,uint256,uint256,bool,uint64,uint256,(uint64,bytes32,bytes32))"
            ),
            "topic"
        );
        same(log.topics[1], gr.recipient, "logged recipient");
        same(log.topics[2], bytes32(uint256(uint160(RELAYER))), "logged submitter");
        same(log.data, abi.encode(value - fee, fee, false, uint64(5), rootAt(5), gr), "logged data");
        same(token.balanceOf(recipient), value - fee, "recipient");
        same(token.balanceOf(RELAYER), fee, "submitter");
        same(token.index(), leaves.length + (fee == 0 || fee == value ? 1 : 2), "no leaf for nothing");
        same(verifier.totalTeleported(_hash()), value, "total");
    }

    function test_a_fee_beyond_what_was_signed_or_is_minted_is_refused() public {
        _refuseFee(_fee(8, 7, 9), 9, abi.encodeWithSelector(ITeleports.RelayerFeeExceedsMax.selector, 8, 7));
        _refuseFee(_fee(10, 20, 9), 9, abi.encodeWithSelector(ITeleports.RelayerFeeExceedsDiff.selector, 10, 9));
    }

    function test_a_consent_counts_until_its_deadline() public {
        ITeleports.RelayerFee memory fee = _fee(1, 2, 9);
        vm.warp(fee.deadline + 1);
        bytes memory reason = abi.encodeWithSelector(
            ITeleports.RelayerFeeAuthorizationExpired.selector, fee.deadline, fee.deadline + 1
        );
        _refuseFee(fee, 9, reason);
        vm.warp(fee.deadline);
        verifier.singleTeleport(false, 5, gr, _proof(9), fee);
    }

    function test_a_consent_is_the_recipients_and_for_these_terms() public {
        bytes memory reason = abi.encodePacked(ITeleports.InvalidRelayerFeeSignature.selector);
        _refuseFee(_fee(1, 2, 8), 9, reason);
        ITeleports.RelayerFee memory fee = _fee(1, 2, 9);
        fee.maxFee = 3;
        _refuseFee(fee, 9, reason);
        fee = _fee(1, 2, 9);
        fee.deadline += 1;
        _refuseFee(fee, 9, reason);
        fee = _fee(1, 2, 9);
        fee.signature = _sign(0xBAD, 2, fee.deadline, 9);
        _refuseFee(fee, 9, reason);
        fee.signature = "";
        _refuseFee(fee, 9, reason);
    }

    function test_a_recipient_that_is_a_contract_consents_by_its_own_rule() public {
        address contractRecipient = address(new ContractRecipient("yes"));
        gr.recipient = bytes32(uint256(uint160(contractRecipient)));
        ITeleports.RelayerFee memory fee = ITeleports.RelayerFee(1, 2, uint64(block.timestamp), "no");
        _refuseFee(fee, 9, abi.encodePacked(ITeleports.InvalidRelayerFeeSignature.selector));
        fee.signature = "yes";
        verifier.singleTeleport(false, 5, gr, _proof(9), fee);
        same(token.balanceOf(contractRecipient), 8, "recipient");
    }

    function test_the_recipient_hash_is_that_of_other_implementations() public view {
        ITeleports.GeneralRecipient memory known = ITeleports.GeneralRecipient(
            42,
            0x1111111111111111111111111111111111111111111111111111111111111111,
            0x2222222222222222222222222222222222222222222222222222222222222222
        );
        same(
            verifier.recipientHashOf(known),
            0x01eef46b832266cb7a14dac126d52053a33f5ae9af4aaf4f16ab405288d956a7,
            "hash"
        );
        same(verifier.recipientHashOf(gr), _hash(), "the hash of these tests");
    }

    /// @dev Calls SHA-256's precompile, which would count as the call that is expected to revert or to be pranked:
    /// proofs are made before.
    function _hash() private view returns (uint256) {
        bytes32 digest = sha256(abi.encodePacked(gr.chainId, gr.recipient, gr.tweak));
        return (uint256(digest) & type(uint248).max) | (1 << 248);
    }

    /// @dev For the recipient above, under the root at five leaves.
    function _proof(uint256 value) private view returns (bytes memory) {
        return abi.encode([uint256(1), 2, 3, 4, 5, 6, 7, 8, rootAt(5), _hash(), value]);
    }

    function _fee(uint256 fee, uint256 max, uint256 totalValue) private view returns (ITeleports.RelayerFee memory) {
        uint64 deadline = uint64(block.timestamp + 100);
        return ITeleports.RelayerFee(fee, max, deadline, _sign(RECIPIENT_KEY, max, deadline, totalValue));
    }

    function _sign(uint256 key, uint256 max, uint64 deadline, uint256 totalValue) private view returns (bytes memory) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Verifier"),
                keccak256("1"),
                block.chainid,
                address(verifier)
            )
        );
        bytes32 message = keccak256(
            abi.encode(
                keccak256(
                    "RelayerFeeAuthorization(uint256 recipientHash,uint256 totalValue,uint256 maxFee,uint64 deadline)"
                ),
                _hash(),
                totalValue,
                max,
                deadline
            )
        );
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, keccak256(abi.encodePacked("\x19\x01", domain, message)));
        return abi.encodePacked(r, s, v);
    }

    function _refuse(ITeleports.GeneralRecipient memory to, uint64 hint, bytes memory proof, bytes memory reason)
        private
    {
        vm.expectRevert(reason);
        verifier.singleTeleport(false, hint, to, proof);
    }

    function _refuseFee(ITeleports.RelayerFee memory fee, uint256 value, bytes memory reason) private {
        bytes memory proof = _proof(value);
        vm.expectRevert(reason);
        verifier.singleTeleport(false, 5, gr, proof, fee);
    }
}
