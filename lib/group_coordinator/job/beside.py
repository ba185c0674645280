"""What runs beside the query in a thread of its own, whose failure is the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def running_beside(run: Callable[[Event], None], stop: Event, name: str) -> Iterator[None]:
    """Call `run` in a thread until the block ends, which sets the event that it is given.

    If it fails, `stop` is set, and its failure is raised when the block has ended.
    """
    ended = Event()
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            run(ended)
        except BaseException as failure:  # noqa: BLE001 - it is raised in the thread of the run
            failures.append(failure)
            stop.set()

    thread = Thread(target=guarded, name=name)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if failures:
        raise failures[0]
