from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.conformance.acls.comparison import KafkaAuthorizer, differences, our_answers
from tests.conformance.acls.drawn_rules import drawn
from tests.conformance.kafka.coordinators import NoCompilerError

SETS = 10_000
AT_ONCE = 500


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaAuthorizer]:
    with (tmp_path_factory.mktemp("authorizer") / "log").open("wb") as log:
        try:
            started = KafkaAuthorizer(log)
        except NoCompilerError as reason:
            pytest.skip(str(reason))
        with closing(started):
            yield started


@pytest.mark.oracle
def test_every_answer_is_that_of_kafkas_authorizer(kafka: KafkaAuthorizer) -> None:
    starts = range(0, SETS, AT_ONCE)
    found = [each for start in starts for each in differences(range(start, start + AT_ONCE), kafka)]
    if found:
        pytest.fail("\n".join(found[:2]), pytrace=False)


def test_questions_are_answered_in_both_ways() -> None:
    answers = Counter(answer for seed in range(500) for answer in our_answers(drawn(seed)))

    assert min(answers[True], answers[False]) > 500
