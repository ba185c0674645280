from __future__ import annotations

from pathlib import Path

from tests.peers.report import Ran, compared, is_wrong, rows
from tests.peers.suite import Case, Outcome, Suite

SUITE = Suite("someone's", Path, lambda *_: [], {"slow": "it must be done within a second"})
PASSED, FAILED, SKIPPED = Outcome


def test_what_fails_through_us_alone_is_wrong_unless_explained() -> None:
    direct = [Case("joins", PASSED), Case("slow", PASSED)]

    assert not is_wrong(Ran(SUITE, direct, [Case("joins", PASSED), Case("slow", FAILED)]))
    assert is_wrong(Ran(SUITE, direct, [Case("joins", FAILED), Case("slow", PASSED)]))
    assert is_wrong(Ran(SUITE, None, [Case("joins", FAILED)]))


def test_what_is_skipped_through_us_alone_is_wrong() -> None:
    assert is_wrong(Ran(SUITE, [Case("joins", PASSED)], [Case("joins", SKIPPED)]))
    assert not is_wrong(Ran(SUITE, [Case("zstd", SKIPPED)], [Case("zstd", SKIPPED)]))


def test_what_fails_at_the_broker_too_is_not_our_fault() -> None:
    assert not is_wrong(Ran(SUITE, [Case("acls", FAILED)], [Case("acls", FAILED)]))


def test_a_test_that_does_not_run_through_us_is_wrong() -> None:
    ran = Ran(SUITE, [Case("joins", PASSED), Case("leaves", PASSED)], [Case("joins", PASSED)])

    assert is_wrong(ran)
    assert list(rows([ran])) == [("someone's", "2", "2", "1", "leaves: did not run through us")]


def test_a_suite_that_cannot_be_had_is_wrong() -> None:
    ran = Ran(SUITE, None, None, "cannot be had here: go is not installed")

    assert is_wrong(ran)
    assert list(rows([ran])) == [
        ("someone's", "0", "-", "-", "cannot be had here: go is not installed")
    ]


def test_a_tool_that_says_something_else_through_us_has_failed() -> None:
    direct = [Case("list", PASSED, said=("shop", "office"))]
    through = [Case("list", PASSED, said=("shop",))]

    [case] = compared(direct, through)

    assert (case.outcome, case.why) == (FAILED, "the broker: ['office'], through us: []")
    assert compared(direct, direct) == direct


def test_reasons_name_the_explained_and_what_the_broker_itself_refuses() -> None:
    of_both = [Case("acls", FAILED, "no authorizer"), Case("zstd", SKIPPED, "no library")]
    direct = [*of_both, Case("slow", PASSED)]
    through = [*of_both, Case("slow", FAILED, "assert False")]

    [(*counts, why)] = rows([Ran(SUITE, direct, through)])

    assert counts == ["someone's", "3", "1", "0"]
    assert why == (
        "1 skipped by the suite; acls fails at the broker itself: no authorizer; "
        "slow: it must be done within a second"
    )
