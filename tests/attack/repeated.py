"""Something that is done again and again beside a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Event, Thread
from typing import Self


class Repeated(ABC):
    """Takes its step in a thread, with a pause before each, while its block lasts."""

    def __init__(self, pause_s: float) -> None:
        self._pause_s = pause_s
        self._ended = Event()
        self._thread = Thread(target=self._run, name=type(self).__name__)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @abstractmethod
    def step(self) -> None:
        """Do it once."""

    def _run(self) -> None:
        while not self._ended.wait(self._pause_s):
            self.step()
