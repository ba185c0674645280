from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.conformance.kafka.coordinators import NoCompilerError, Oracle


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    with (tmp_path_factory.mktemp("oracle") / "log").open("wb") as log:
        try:
            started = Oracle(log)
        except NoCompilerError as reason:
            pytest.skip(str(reason))
        with closing(started):
            yield started
