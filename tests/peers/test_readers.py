"""Who reads a suite's report wrong would hide a failure."""

from __future__ import annotations

from pathlib import Path

from msgspec import json

from tests.peers.suite import Case, Outcome
from tests.peers.suites import franz_go, kafka_python, librdkafka

PASSED, FAILED, SKIPPED = Outcome


def go(*events: tuple[str, str, str]) -> str:
    """What `go tool test2json` prints, with a line between that is none of its own."""
    keys = ("Action", "Test", "Output")
    lines = [json.encode(dict(zip(keys, event, strict=True))).decode() for event in events]
    return "\n".join(["PASS", *lines])


def test_variants_of_a_go_test_count_and_their_names_have_slashes() -> None:
    names = ("TestChain", "TestChain/range", "TestChain/range/848", "TestAlone")
    run = [("run", name, "") for name in names]
    ended = [("pass", name, "") for name in names]

    assert [case.name for case in franz_go.read(go(*run, *ended))] == [
        "TestChain/range",
        "TestChain/range/848",
        "TestAlone",
    ]


def test_a_go_test_that_never_ended_has_failed() -> None:
    said = go(("run", "TestChain", ""), ("output", "TestChain", "panic: too late\n"))

    assert list(franz_go.read(said)) == [Case("TestChain", FAILED, "panic: too late")]


def test_a_failed_variant_says_why() -> None:
    said = go(
        ("run", "TestChain", ""),
        ("run", "TestChain/range", ""),
        ("output", "TestChain/range", "    group_test.go:1: saw double offset\n"),
        ("output", "TestChain/range", "--- FAIL: TestChain/range (1.00s)\n"),
        ("fail", "TestChain/range", ""),
        ("fail", "TestChain", ""),
    )

    [case] = franz_go.read(said)

    assert case == Case("TestChain/range", FAILED, "group_test.go:1: saw double offset")


def test_errors_of_a_junit_report_are_failures(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(
        '<testsuites><testsuite><testcase name="test_group"/>'
        '<testcase name="test_lz4"><skipped message="no library"/></testcase>'
        '<testcase name="test_heartbeat"><error message="failed on setup"/></testcase>'
        '<testcase name="test_commit"><failure message="assert 0"/></testcase></testsuite></testsuites>'
    )

    assert list(kafka_python.read(report)) == [
        Case("test_group", PASSED),
        Case("test_lz4", SKIPPED, "no library"),
        Case("test_heartbeat", FAILED, "failed on setup"),
        Case("test_commit", FAILED, "assert 0"),
    ]


def test_librdkafka_says_why_at_the_failure_or_in_its_summary() -> None:
    failed = '\x1b[31m### Test "0102" failed at a.c:12:f() at Mon Nov 23: ###\nf():12: expected 3\n'
    skipped = "|\x1b[36m 0153_memberid | SKIPPED | 0.000s \x1b[0m| Member ID is not generated\n"

    assert librdkafka.why(failed, "0102") == "f():12: expected 3"
    assert librdkafka.why(skipped, "0153_memberid") == "Member ID is not generated"


def test_parts_of_librdkafkas_0113_that_did_not_run_have_not_passed(tmp_path: Path) -> None:
    """Its report says PASSED of a test whose parts were all left out."""
    report = tmp_path / "0113.json"
    report.write_text(
        '{"tests": {"0113_x": {"state": "PASSED"}, "0113_x_local": {"state": "SKIPPED"}}}'
    )
    said = "[0113_x / 143.5s] \x1b[32m[ n_wildcard:1894: PASS (18.38s) ]\n[0113_x / 1s] [ k_add:9: SKIP: no ]\n"

    def outcome_of(part: str) -> list[Case]:
        return list(librdkafka.read(report, said, "0113", part))

    assert outcome_of("n_wildcard") == [Case("0113, n_wildcard", PASSED)]
    assert outcome_of("k_add") == [Case("0113, k_add", SKIPPED)]
    assert outcome_of("o_java_interop") == [Case("0113, o_java_interop", SKIPPED)]
    assert outcome_of("") == [Case("0113_x", PASSED)]
