"""Uuids as Kafka prints them: 16 bytes in url-safe base64 without padding, 22 characters."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

ZERO_UUID = "A" * 22


def uuid_text(uuid: bytes) -> str:
    """Return the text of 16 bytes."""
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def uuid_bytes(text: str) -> bytes:
    """Return the 16 bytes of a text."""
    return urlsafe_b64decode(text + "==")
