"""How our `groups` differs from kafka-consumer-groups 4.3.1, on purpose: all of it.

* Errors, and what a reset warns of, are on standard error; Kafka's tool prints them to standard output. Stack traces are not printed.
* The exit status is 1 where an error was printed (Kafka's: 0), and 2 where the options do not go together (Kafka's: 1). Then
  there is click's hint at --help in place of Kafka's list of all options.
* A pattern that is not valid gives the status 1 (Kafka's: 0).
* Rows and warnings of a reset, and lists of groups, are sorted; Kafka's tool has them in the order of Java's hash tables.
* Names of options and states that a message lists are in the order of Java's sets in Kafka's tool, which changes from run to run. Ours lists
  `--to-group` too.
* A value that cannot be read is wrong use, in click's words with the reason that Kafka's tool gives; that tool takes it for a failure. Times need no
  milliseconds.
* Two groups for --delete-offsets are wrong use; Kafka's tool takes them for a failure.
* Some errors are said in words of our own: OWN_WORDS. Kafka's tool takes a partition without an offset to shift for wrong use.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

OWN_WORDS: Final[dict[str, str]] = {
    "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
    "This server does not host this topic-partition.": 'The partitions "nowhere-0" do not exist',
    "failed due to This server does not host this topic-partition.": 'failed due to The topics "nowhere" do not exist',
}
"""Kafka's words, and ours for the same."""

_TRACE = re.compile(
    r"\s+at .*|Caused by: .*|\s+\.\.\. \d+ more|(java|org|com|joptsimple)\.[\w.$]+(Exception|Error)\b.*"
)
_OF_PARSER = re.compile(r"joptsimple\.\w+: ")
_NO_WRONG_USE = "Cannot shift offset for partition"
_TWO_GROUPS = "Found multiple arguments for option group, but you asked for only one"
_TO_STDERR = ("Error: ", "Warn: ")


class Said(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    def in_any_order(self) -> tuple[int, list[str], list[str]]:
        """With sorted lines."""
        return self.status, sorted(self.out.split("\n")), sorted(self.err.split("\n"))

    def words(self) -> tuple[int, str, list[str]]:
        """Of a message: its words, in any order."""
        return self.status, self.out, sorted(re.split(r"[ ,\[\]]+", self.err))


def expected_of_us(tool: Said) -> Said:
    """What our command must say where Kafka's tool said this."""
    if tool.status != 0:
        return _expected_refusal(_OF_PARSER.sub("", tool.err.splitlines()[0]))
    if _TWO_GROUPS in tool.out:
        return Said(2, "", _TWO_GROUPS)
    out, moved = _divided(tool.out)
    printed = "".join(f"{line}\n" for line in tool.err.splitlines() if not _TRACE.fullmatch(line))
    err = _in_our_words(printed + moved)
    return Said(1 if "\nError: " in err else 0, out, err)


def _expected_refusal(message: str) -> Said:
    if message.startswith(_NO_WRONG_USE):
        return Said(1, "", f"\nError: {message}\n")
    return Said(2, "", _in_our_words(message))


def usage_error_of(ours: Said) -> Said:
    """Without click's lines above the error."""
    error = ours.err.rpartition("Error: ")[2].rstrip("\n")
    return ours._replace(err=error.replace(", [to-group]", ""))


def _divided(out: str) -> tuple[str, str]:
    """What stays on standard output, and what belongs on standard error."""
    lines = out.split("\n")
    kept: list[str] = []
    moved: list[str] = []
    for line in lines:
        if line.startswith(_TO_STDERR):
            moved += [kept.pop(), line]
        elif line.startswith("* Group "):
            moved.append(line)
        else:
            kept.append(line)
    return "\n".join(kept), "".join(f"{line}\n" for line in moved)


def _in_our_words(text: str) -> str:
    for theirs, ours in OWN_WORDS.items():
        text = text.replace(theirs, ours)
    return text
