"""What is seen of a job once a minute: how late its answers are, its memory, its files."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Self

import psutil
from deltalake import DeltaTable

from tests.benchmarks.latency import Answers
from tests.benchmarks.long_run.traffic import SteadyTraffic
from tests.benchmarks.measured import family, processor_s, resident_bytes

MIB = 1024 * 1024
TABLES = "group-coordinator-tables"
CHECKPOINT = "group-coordinator-checkpoint"


@dataclass(frozen=True, slots=True)
class Minute:
    """Figures at the end of a minute of the run; memory in MiB, of processes shared pages in part."""

    minute: float
    answers: float
    median_ms: float
    p99_ms: float
    cores: float
    java_mib: float
    driver_mib: float
    """Of the driver's Python."""
    workers_mib: float
    """Of Python's workers."""
    log_files: float
    """That the table coordinator_log consists of; the others are of its past."""
    table_files: float
    """In the folders of all tables, with those of the past and of Delta's logs."""
    table_mib: float
    checkpoint_files: float
    checkpoint_mib: float

    @classmethod
    def of_part(cls, part: Sequence[Self]) -> Self:
        """The last of them, with the medians of all for what goes up and down."""
        steady = {"answers", "median_ms", "p99_ms", "cores", "java_mib", "workers_mib"}
        values = {
            name: statistics.median(getattr(minute, name) for minute in part)
            if name in steady
            else getattr(part[-1], name)
            for name in cls.__dataclass_fields__
        }
        return cls(**{name: round(value, 2) for name, value in values.items()})

    def __rich__(self) -> str:
        return "  ".join(f"{value:,.10g}" for value in astuple(self))


class Watch:
    """Looks at a job, its folder and what its clients see."""

    def __init__(self, pid: int, folder: Path, traffic: SteadyTraffic, answers: Answers) -> None:
        self._pid = pid
        self._folder = folder
        self._traffic = traffic
        self._answers = answers
        self._began_s = time.monotonic()
        self._looked_s, self._used_s = self._began_s, processor_s(pid)

    def minute(self) -> Minute:
        """The time since the last look."""
        waits_s = self._waits_s()
        now_s, used_s = time.monotonic(), processor_s(self._pid)
        cores = (used_s - self._used_s) / (now_s - self._looked_s)
        self._looked_s, self._used_s = now_s, used_s
        java, driver, workers = _memory(self._pid)
        tables, checkpoint = _files(self._folder / TABLES), _files(self._folder / CHECKPOINT)
        return Minute(
            minute=round((now_s - self._began_s) / 60),
            answers=len(waits_s),
            median_ms=round(statistics.median(waits_s) * 1_000),
            p99_ms=round(waits_s[int(len(waits_s) * 0.99)] * 1_000),
            cores=round(cores, 2),
            java_mib=round(java / MIB),
            driver_mib=round(driver / MIB),
            workers_mib=round(workers / MIB),
            log_files=len(DeltaTable(self._folder / TABLES / "coordinator_log").file_uris()),
            table_files=len(tables),
            table_mib=round(sum(tables) / MIB, 1),
            checkpoint_files=len(checkpoint),
            checkpoint_mib=round(sum(checkpoint) / MIB, 1),
        )

    def _waits_s(self) -> list[float]:
        """In order; what is taken here is forgotten, as hours have many."""
        arrived_s, sent_s = self._answers.arrived_s, self._traffic.sent_s
        waits_s = []
        for key in list(arrived_s):
            at_s = arrived_s.pop(key)
            if key in sent_s:
                waits_s.append(at_s - sent_s.pop(key))
        return sorted(waits_s)


def _memory(pid: int) -> tuple[int, int, int]:
    """Bytes of Java, of the driver's Python and of its workers."""
    java = driver = workers = 0
    for process in family(pid):
        used = resident_bytes(process)
        with suppress(psutil.NoSuchProcess):
            if psutil.Process(process).name() == "java":
                java += used
            elif process == pid:
                driver = used
            else:
                workers += used
    return java, driver, workers


def _files(folder: Path) -> list[int]:
    """Their sizes; one that goes meanwhile does not count."""
    sizes = []
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                sizes.append(path.stat().st_size)
        except FileNotFoundError:
            continue
    return sizes
