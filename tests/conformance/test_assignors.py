from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.conformance.assignors.comparison import KafkaAssignors, differences
from tests.conformance.assignors.group_lives import SMALL, WIDE, Size
from tests.conformance.kafka.coordinators import NoCompilerError


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaAssignors]:
    with (tmp_path_factory.mktemp("assignors") / "log").open("wb") as log:
        try:
            started = KafkaAssignors(log)
        except NoCompilerError as reason:
            pytest.skip(str(reason))
        with closing(started):
            yield started


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("size", "seeds"), [(SMALL, range(400)), (WIDE, range(40))], ids=["small", "wide"]
)
def test_every_target_is_the_one_that_kafka_assigns(
    size: Size, seeds: range, kafka: KafkaAssignors
) -> None:
    found = [difference for seed in seeds for difference in differences(seed, size, kafka)]
    if found:
        pytest.fail("\n".join(found[:2]), pytrace=False)
