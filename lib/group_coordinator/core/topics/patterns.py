"""Regular expressions of subscriptions: RE2 matches whole topic names, as in Kafka (which runs the Java version, RE2J).

Source: TopicRegexResolver and throwIfRegularExpressionIsInvalid in Kafka 4.4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import re2

from group_coordinator.core.model.errors import ErrorCode

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True  # capturing a thousand groups takes 30 ms a topic name
_OPTIONS.max_mem = 8 * 1024 * 1024
"""The memory limit of a compiled pattern, in bytes: enough for 249 letters of any script, or for the longest text without repetitions.
RE2J has no such limit.
"""
_KEPT_PATTERNS = 16
_DESCRIPTIONS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid UTF-8": "invalid escape sequence",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
}
"""RE2J's messages by RE2's message for the same fault. All other faults have the same message."""
_ESCAPES = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(?P<escaped>.)", re.DOTALL)
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
    """Check that Kafka would accept a regular expression.

    Raises:
        InvalidPatternError: Kafka would reject it.
    """
    _compiled(pattern)


def matching_names(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that match as a whole; empty if the pattern is invalid, as when Kafka resolves it."""
    try:
        matches = _compiled(pattern).fullmatch
    except InvalidPatternError:
        return frozenset()
    return frozenset([name for name in names if matches(name)])


@lru_cache(_KEPT_PATTERNS)
def _compiled(pattern: str) -> Any:
    try:
        compiled = re2.compile(_ESCAPES.sub(_without_backslash, pattern), _OPTIONS)
    except re2.error as fault:
        raise InvalidPatternError(pattern, _description(fault.args[0].decode())) from None
    finally:
        re2.purge()  # the cache of re2 keeps 128 patterns of any size
    _check_what_only_re2_takes(pattern)
    return compiled


def _without_backslash(escape: re.Match[str]) -> str:
    # RE2J allows a backslash before every character but ASCII letters and digits, RE2 does not.
    escaped = escape["escaped"]
    return escape[0] if escaped is None or escaped.isascii() else escaped


def _description(fault: str) -> str:
    # RE2's message is the fault, a colon, and its place.
    what, _, where = fault.partition(": ")
    if what == "invalid perl operator" and where.startswith("(?<"):
        what = "invalid named capture group"
    return _DESCRIPTIONS.get(what, what)


def _check_what_only_re2_takes(pattern: str) -> None:
    # RE2J rejects the byte escape, a repeated brace, and group names that are not unique or not
    # ASCII.
    tokens = list(_TOKENS.finditer(pattern))
    if any(token["byte"] for token in tokens):
        raise InvalidPatternError(pattern, "invalid escape sequence")
    if any(token["brace"] for token in tokens):
        raise InvalidPatternError(pattern, "invalid nested repetition operator")
    names = Counter(token["name"] for token in tokens if token["name"])
    if not all(name.isascii() for name in names):
        raise InvalidPatternError(pattern, "invalid named capture")
    if any(count > 1 for count in names.values()):
        raise InvalidPatternError(pattern, "duplicate capture group name")
