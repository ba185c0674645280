"""A checkpoint's folder in memory."""

from __future__ import annotations


class FilesInMemory:
    """Texts by path, with the methods of CheckpointFolder that a journal needs."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def names_in(self, name: str) -> set[str]:
        return {path.removeprefix(f"{name}/") for path in self.texts if path.startswith(f"{name}/")}

    def read(self, name: str) -> str | None:
        return self.texts.get(name)

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text

    def remove(self, name: str) -> None:
        self.texts.pop(name, None)
