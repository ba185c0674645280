"""The temporary folder of runs that are killed: what one leaves there, the next one removes; one that ends leaves nothing."""

from __future__ import annotations

from pathlib import Path

_KEPT = ("blockmgr-", "rocksdb")
"""In the names of what Spark and Java keep there while a run goes on."""


def variables_for(folder: Path) -> dict[str, str]:
    """What a run needs in its environment, to use this folder."""
    return {"TMPDIR": str(folder)}


def problems_after_a_kill(folder: Path) -> list[str]:
    """What is not as the next run should find it: one run's folder, with something in it, and the file of its lock."""
    left = sorted(entry.name for entry in folder.iterdir())
    if len(left) != 2 or left[1] != f"{left[0]}.lock":
        return [f"a killed run has left {left}"]
    names = [entry.name for entry in (folder / left[0]).iterdir()]
    return [
        f"a killed run has left no {kept}"
        for kept in _KEPT
        if not any(kept in name for name in names)
    ]


def problems_after_an_end(folder: Path) -> list[str]:
    """What is left behind."""
    return [f"{entry.name} is left behind" for entry in folder.iterdir()]
