"""Work that goes on in threads while a test does something else."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread, current_thread
from typing import Self


class Flow:
    """Each work has a thread while the block runs, and ends when `_over` is set; `failures` are what ended one early."""

    def __init__(self, *works: Callable[[], None]) -> None:
        self._over = Event()
        self._threads = [
            Thread(target=self._guarded, args=[work], name=work.__name__) for work in works
        ]
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as failure:  # noqa: BLE001 - it is told in the result
            self.failures.append(f"{current_thread().name}: {failure!r}")
