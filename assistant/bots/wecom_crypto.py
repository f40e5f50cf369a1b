"""Signature and encryption of WeCom's callbacks: https://developer.work.weixin.qq.com/document/path/90968.

The signature is SHA-1 over token, time stamp, nonce and ciphertext in alphabetical order. The cipher is AES-256-CBC
with the first half of the key as its initial vector, over 16 random bytes, the length (4 bytes, big-endian), the
message and the receiver's id, padded as PKCS #7 does to multiples of 32 bytes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import struct
from typing import Any

_BLOCK = 32


class InvalidEnvelope(ValueError):
    """A callback that WeCom didn't sign or encrypt, or that is for somebody else."""


class Envelope:
    """Opens and seals messages of one receiver."""

    def __init__(self, token: str, encoding_aes_key: str, receive_id: str) -> None:
        self._token = token
        self._key = base64.b64decode(encoding_aes_key + "=")
        self._receive_id = receive_id.encode()

    def open(self, encrypted: str, signature: str, timestamp: str, nonce: str) -> str:
        """The message in a callback.

        Raises:
            InvalidEnvelope: the signature isn't WeCom's, or the message can't be read.
        """
        expected = self.signature(encrypted, timestamp, nonce)
        if not hmac.compare_digest(expected.encode(), signature.encode()):
            raise InvalidEnvelope("The signature is wrong.")
        try:
            data = base64.b64decode(encrypted, validate=True)
            padded = self._cipher().decryptor().update(data)
            padding = padded[-1]
            content = padded[16 : len(padded) - padding]
            (length,) = struct.unpack(">I", content[:4])
        except (ValueError, IndexError, struct.error) as error:
            raise InvalidEnvelope(f"The message can't be decrypted: {error}") from error
        message, receiver = content[4 : 4 + length], content[4 + length :]
        if not 1 <= padding <= _BLOCK or len(message) != length or receiver != self._receive_id:
            raise InvalidEnvelope("The message is for somebody else.")
        return bytes(message).decode("utf-8")

    def seal(self, message: str, timestamp: int, nonce: str) -> dict[str, Any]:
        """A reply as the platform takes it."""
        content = message.encode()
        plain = os.urandom(16) + struct.pack(">I", len(content)) + content + self._receive_id
        padding = _BLOCK - len(plain) % _BLOCK
        encryptor = self._cipher().encryptor()
        data = encryptor.update(plain + bytes([padding]) * padding) + encryptor.finalize()
        encrypted = base64.b64encode(data).decode()
        signature = self.signature(encrypted, str(timestamp), nonce)
        return {"encrypt": encrypted, "msgsignature": signature, "timestamp": timestamp, "nonce": nonce}

    def signature(self, encrypted: str, timestamp: str, nonce: str) -> str:
        """SHA-1, hexadecimal."""
        return hashlib.sha1("".join(sorted((self._token, timestamp, nonce, encrypted))).encode()).hexdigest()

    def _cipher(self) -> Any:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        return Cipher(algorithms.AES(self._key), modes.CBC(self._key[:16]))
