"""Bytes as they might arrive from somebody who has a fault, or means harm."""

from __future__ import annotations

from random import Random


def damaged_bytes(random: Random, data: bytes) -> bytes:  # noqa: PLR0911 - one line a damage
    """The bytes with some cut off, changed, put in or taken out."""
    at = random.randrange(len(data) + 1)
    match random.randrange(6):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + random.randbytes(random.randint(1, 3)) + data[at:]
        case 2:
            return data[:at] + data[at + random.randint(1, 3) :]
        case 3:
            return data[:2] + random.randbytes(random.randrange(40))
        case 4:
            return random.randbytes(random.randrange(40))
        case _:
            return _changed(random, data)


def _changed(random: Random, data: bytes) -> bytes:
    """Some bytes are others, most likely those that say the length of something."""
    changed = bytearray(data or b"\x00")
    for _ in range(random.randint(1, 3)):
        changed[random.randrange(len(changed))] = random.choice(
            (0x00, 0x01, 0x7F, 0x80, 0xFF, random.randrange(256))
        )
    return bytes(changed)
