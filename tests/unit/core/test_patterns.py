"""Descriptions are RE2J's, seen in the version 1.8 that Kafka 4.4.0 comes with."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.topics import InvalidPatternError, check_pattern, matching_names

TOPICS = ("foo", "foo-1", "barfoo", "orders_1", "a.b", "aab")


@pytest.mark.parametrize(
    ("pattern", "topics"),
    [
        ("foo", {"foo"}),
        ("foo.*", {"foo", "foo-1"}),
        (".*foo", {"foo", "barfoo"}),
        ("foo|orders_.", {"foo", "orders_1"}),
        ("(?i)FOO", {"foo"}),
        (r"a\.b", {"a.b"}),
        ("a.b", {"a.b", "aab"}),
        (r"\Qa.b\E", {"a.b"}),
        (r"[[:alpha:]]+", {"foo", "barfoo", "aab"}),
        (r"\p{L}{1,249}", {"foo", "barfoo", "aab"}),
        (r"\é|foo", {"foo"}),
        (r"[\é\]o]oo|\\é|\Q\é\E", set()),
        (r"[\éf]\oo", set()),
        (r"[\éf]oo", {"foo"}),
        (".*", set(TOPICS)),
        ("", set()),
    ],
)
def test_a_pattern_matches_whole_names(pattern: str, topics: set[str]) -> None:
    assert matching_names(pattern, TOPICS) == topics


@pytest.mark.parametrize(
    ("pattern", "description"),
    [
        ("(a", "missing closing )"),
        ("[a", "missing closing ]"),
        ("a)", "regexp/syntax: internal error"),
        ("a**", "invalid nested repetition operator"),
        ("{*", "invalid nested repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("*a", "missing argument to repetition operator"),
        ("a\\", "trailing backslash at end of expression"),
        (r"\8", "invalid escape sequence"),
        (r"\C", "invalid escape sequence"),
        ("[z-a]", "invalid character class range"),
        ("(?!a)", "invalid or unsupported Perl syntax"),
        ("(?P<n", "invalid named capture"),
        ("(?<", "invalid named capture"),
        ("(?<=a)", "invalid named capture"),
        ("(?<é>a)", "invalid named capture"),
        (r"\x{", "invalid escape sequence"),
        ("(?<n>a)(?P<n>b)", "duplicate capture group name"),
    ],
)
def test_an_invalid_pattern_is_refused_in_kafkas_words(pattern: str, description: str) -> None:
    with pytest.raises(InvalidPatternError) as refusal:
        check_pattern(pattern)
    assert refusal.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert str(refusal.value) == (
        f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {description}."
    )
    assert matching_names(pattern, TOPICS) == set()


@pytest.mark.parametrize(
    "pattern", [r"\Q\C{*\E", r"[(?P<n>](?P<n>a)", r"a{2}?", r"\\C", "(?<n>a)(?<m>b)"]
)
def test_what_only_looks_like_a_fault_is_none(pattern: str) -> None:
    check_pattern(pattern)


def test_a_pattern_of_the_greatest_length_is_taken_and_one_that_grows_too_much_is_not() -> None:
    topics = [f"orders-{number:05}" for number in range(2_500)]
    assert matching_names("|".join(topics), topics) == set(topics)

    with pytest.raises(InvalidPatternError, match="pattern too large"):
        check_pattern(r"\pL{1000}")


def test_a_thousand_nested_groups_match_as_fast_as_none() -> None:
    topics = [f"orders-{number:05}" for number in range(2_500)]
    nested = "(" * 1000 + r"orders-\d*" + ")" * 1000

    assert matching_names(nested, topics) == set(topics)
