"""A checkpoint's folder in memory."""

from __future__ import annotations

from typing import TypeVar

from msgspec import json

Content = TypeVar("Content")


class FilesInMemory:
    """Texts by path, with the methods of CheckpointFolder that journals and totals need."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def names_in(self, name: str) -> set[str]:
        return {path.removeprefix(f"{name}/") for path in self.texts if path.startswith(f"{name}/")}

    def read(self, name: str) -> str | None:
        return self.texts.get(name)

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text

    def read_as(self, name: str, kind: type[Content], _remedy: str = "") -> Content | None:
        text = self.read(name)
        return None if text is None else json.decode(text, type=kind)

    def read_newest_as(self, name: str, kind: type[Content], _remedy: str = "") -> Content | None:
        newest = self._newest(name)
        return None if newest is None else self.read_as(f"{name}/{newest}", kind)

    def remove(self, name: str) -> None:
        self.texts.pop(name, None)

    def _newest(self, name: str) -> int | None:
        return max((int(file) for file in self.names_in(name)), default=None)

    def write_next(self, name: str, text: str) -> None:
        numbers = {int(file) for file in self.names_in(name)}
        self.write(f"{name}/{max(numbers, default=-1) + 1}", text)
        for number in numbers:
            self.remove(f"{name}/{number}")
