"""One suite at both places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

from tests.peers import stand
from tests.peers.report import Ran, compared
from tests.peers.suite import Case, NotObtainableError, Place, Suite, SuiteError

At: TypeAlias = Callable[[Mapping[str, int]], AbstractContextManager[str]]
"""Begins a place with these settings of the coordinator: HOST:PORT for the time of a block."""

Gateway: TypeAlias = Callable[[str, Mapping[str, int]], AbstractContextManager[str]]
"""Begins a gateway before a broker, as it begins a place."""


class Places(NamedTuple):
    """Where suites run; None: not there."""

    direct: At | None
    through: At | None


def try_suite(suite: Suite, places: Places) -> Ran:
    """Run a suite; what it cannot do stands in the result."""
    direct = through = None
    try:
        source = suite.obtain()
        direct = _cases(suite, source, places.direct)
        through = _cases(suite, source, places.through)
    except NotObtainableError as missing:
        return Ran(suite, direct, None, f"cannot be had here: {missing}")
    except SuiteError as error:
        return Ran(suite, direct, None, f"did not end well: {error}")
    if direct is not None and through is not None:
        through = compared(direct, through)
    return Ran(suite, direct, through)


def _cases(suite: Suite, source: Path, at: At | None) -> Sequence[Case] | None:
    if at is None:
        return None
    with at(suite.coordinator) as bootstrap_servers, TemporaryDirectory(prefix="peers-") as folder:
        return suite.run(source, Place(bootstrap_servers, Path(folder)))


def fresh_broker_and(gateway: Gateway) -> At:
    """A gateway before a broker of its own: what a suite left at the broker itself is not there."""

    @contextmanager
    def begun(coordinator: Mapping[str, int]) -> Iterator[str]:
        with stand.broker(coordinator) as broker, gateway(broker, coordinator) as servers:
            yield servers

    return begun
