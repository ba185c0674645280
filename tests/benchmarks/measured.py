"""What the benchmarks share: memory and processor time of a family of processes, and how results are shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import psutil
from rich.console import Console
from rich.table import Table


class Memory:
    """The highest sum of the resident memory of a process and all that it started."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = Event()
        self.highest_bytes = 0
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(1):
            used = sum(resident_bytes(pid) for pid in family(self._pid))
            self.highest_bytes = max(self.highest_bytes, used)

    def close(self) -> None:
        self._over.set()
        self._thread.join()


def family(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    with suppress(psutil.NoSuchProcess):
        yield from (child.pid for child in psutil.Process(pid).children(recursive=True))


def resident_bytes(pid: int) -> int:
    """Shared pages count for each process in part (PSS), as Python's workers are forks."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended meanwhile
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def processor_s(pid: int) -> float:
    """Of the process, all that it started, and those of them that have ended."""
    used_s = 0.0
    for member in family(pid):
        with suppress(psutil.NoSuchProcess):
            used_s += sum(psutil.Process(member).cpu_times()[:4])
    return used_s


def show(title: str, result: Mapping[str, object]) -> None:
    """A table for people, a line of JSON for programs."""
    table = Table(title=title)
    table.add_column("what")
    table.add_column("measured", justify="right")
    for name, value in result.items():
        table.add_row(name, f"{value:,}" if isinstance(value, int | float) else str(value))
    Console().print(table)
    print(json.dumps(result))
