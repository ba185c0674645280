from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pyspark
import pytest

from group_coordinator.streaming.operator.known_pyspark import (
    SEEN,
    UnknownPySparkError,
    chosen,
    digest,
    digest_here,
)

SERIALIZERS, STATE, WORKER = (
    "pyspark.sql.pandas.serializers",
    "pyspark.sql.streaming.state",
    "pyspark.worker",
)


def source(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return {module: source(module) for module in (SERIALIZERS, STATE, WORKER)}


def test_the_pyspark_of_the_tests_is_known_by_its_sources() -> None:
    found = digest_here()

    assert found is not None
    assert SEEN[found] == pyspark.__version__
    assert chosen("auto", found) == "lean"
    assert chosen("lean", found) == "lean"
    assert chosen("stock", found) == "stock"


RELIED_ON = {
    "until 4.2": [
        (SERIALIZERS, "state_object = self.pickleSer.loads(state_info_col_object)"),
        (STATE, '"timeoutTimestamp": self._timeout_timestamp,'),
        (WORKER, "serializer.dump_stream(out_iter, outfile)"),
    ],
    "since 4.3": [
        (SERIALIZERS, "writer = pa.RecordBatchStreamWriter(stream, batch.schema)"),
        (STATE, '"timeoutTimestamp": self._timeout_timestamp,'),
        (WORKER, 'state_info_col_object = state_info_col["object"]'),
        (WORKER, "out_iter = func(init_info.split_index, iterator)"),
    ],
}
FORM = "until 4.2" if "class ApplyInPandasWithState" in source(SERIALIZERS) else "since 4.3"


@pytest.mark.parametrize(("module", "line"), RELIED_ON[FORM])
def test_a_fork_that_says_the_same_version_is_not_known(
    sources: dict[str, str], module: str, line: str
) -> None:
    assert sources[module].count(line) == 1
    forked = sources[module].replace(line, f"{line}  # as we like it")

    found = digest(sources | {module: forked})

    assert found not in (None, digest(sources))
    assert chosen("auto", found) == "stock"
    assert chosen("stock", found) == "stock"


def test_the_lean_exchange_alone_is_refused_where_it_is_not_known() -> None:
    with pytest.raises(UnknownPySparkError) as refused:
        chosen("lean", "0123456789abcdef")

    assert str(refused.value) == (
        "exchange = lean: the lean exchange is not tested with the PySpark of the workers (sources "
        f"0123456789abcdef), only with {', '.join(SEEN.values())}: set exchange = auto, which uses the stock exchange there"
    )


def test_what_it_does_not_rely_on_may_change(sources: dict[str, str]) -> None:
    more = sources[SERIALIZERS] + "\n\nclass AnotherSerializer:\n    pass\n"

    assert digest(sources | {SERIALIZERS: more}) == digest(sources)


def test_a_pyspark_without_a_class_or_without_sources_is_not_known(
    sources: dict[str, str],
) -> None:
    renamed = sources[SERIALIZERS].replace("class ArrowStreamSerializer", "class Renamed")

    assert digest(sources | {SERIALIZERS: renamed}) is None
    assert digest(sources | {WORKER: ""}) is None
    assert chosen("auto", None) == "stock"
