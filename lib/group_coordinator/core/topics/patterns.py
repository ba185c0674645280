"""Topic patterns of regex subscriptions: whole names are matched, by RE2 as in Kafka (which runs its Java version, RE2J).

Source: TopicRegexResolver and throwIfRegularExpressionIsInvalid in Kafka 4.4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import re2

from group_coordinator.core.model.errors import ErrorCode

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 1024 * 1024
"""Bytes of a compiled pattern; re2 keeps 128 of them. Enough for a text of the greatest length that repeats nothing; RE2J
has no such limit."""
_DESCRIPTIONS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
}
"""RE2's words, and RE2J's for the same fault; all other faults have the same words."""
_BARE_GROUP = "(?<"
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|\Z)|(?P<byte>\\C)|(?P<brace>\{(?:[*+?]|\{\d+(?:,\d*)?\}))|\\.|\[\^?\]?(?:\[:\w*:\]|\\.|[^\]])*\]|\(\?P?<(?P<name>\w+)>",
    re.DOTALL,
)


class InvalidPatternError(ValueError):
    """Not a valid RE2 pattern; the message is Kafka's."""

    code = ErrorCode.INVALID_REGULAR_EXPRESSION

    def __init__(self, pattern: str, description: str) -> None:
        super().__init__(
            f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {description}."
        )
        self.description = description


def check_pattern(pattern: str) -> None:
    """Make sure that Kafka would take a pattern.

    Raises:
        InvalidPatternError: it would not.
    """
    try:
        re2.compile(pattern, _OPTIONS)
    except re2.error as fault:
        raise InvalidPatternError(pattern, _description(fault.args[0].decode())) from None
    _check_what_only_re2_takes(pattern)


def matching_names(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """The names that match as a whole; empty if the pattern is invalid, as when Kafka resolves it."""
    try:
        check_pattern(pattern)
    except InvalidPatternError:
        return frozenset()
    matches = re2.compile(pattern, _OPTIONS).fullmatch
    return frozenset([name for name in names if matches(name)])


def _description(fault: str) -> str:
    """RE2 says what is wrong, and behind a colon where."""
    what, _, where = fault.partition(": ")
    if where == _BARE_GROUP:
        what = "invalid named capture group"
    return _DESCRIPTIONS.get(what, what)


def _check_what_only_re2_takes(pattern: str) -> None:
    r"""RE2J has no \C, does not repeat a brace, and requires every group to have a name of its own."""
    tokens = list(_TOKENS.finditer(pattern))
    if any(token["byte"] for token in tokens):
        raise InvalidPatternError(pattern, "invalid escape sequence")
    if any(token["brace"] for token in tokens):
        raise InvalidPatternError(pattern, "invalid nested repetition operator")
    names = Counter(token["name"] for token in tokens if token["name"])
    if any(count > 1 for count in names.values()):
        raise InvalidPatternError(pattern, "duplicate capture group name")
