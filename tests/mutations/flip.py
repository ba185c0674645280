"""What a wrong rule is."""

from __future__ import annotations

from typing import NamedTuple


class Flip(NamedTuple):
    """One wrong rule: `new` in the place of `old`, which a file under lib/group_coordinator/core has exactly once."""

    name: str
    file: str
    old: str
    new: str

    def of(self, source: str) -> str:
        """The source with the wrong rule.

        Raises:
            ValueError: there is not exactly one place for it.
        """
        places = source.count(self.old)
        if places != 1:
            raise ValueError(f"{self.name}: {places} places in {self.file}, not one: {self.old!r}")
        return source.replace(self.old, self.new)
