"""Kafka's command line tools: what they print must be the same at a broker and through the gateway."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from msgspec import json

from group_coordinator.local.jars import JarsError, tools_jars
from tests.broker.clients.java_clients import console_consumer
from tests.broker.clients.kafka_tool import ALL_TOOLS, CSV
from tests.conformance.kafka.coordinators import NoCompilerError, Process, java_program
from tests.peers.suite import Case, NotObtainableError, Outcome, Place, Suite
from tests.peers.suites.kafka_tools_story import (
    CONSUMER_GROUPS,
    LIVE,
    Step,
    groups,
    preparation,
    the_whole_story,
)
from tests.support.until import until

_PROGRAM = Path(__file__).parents[1] / "programs" / "KafkaTools.java"
_JOIN_S = 60.0
_PATIENCE = ("--timeout", "20000")
"""What deploy/gateway/clients.md advises users of kafka-consumer-groups: its own 5 s are few for a job on a busy machine."""
_SAME_EVERYWHERE = (
    (re.compile(r"\d+\.\d+\.\d+\.\d+:\d+"), "ADDRESS"),
    (re.compile(r"localhost:\d+"), "ADDRESS"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "MEMBER"),
    (re.compile(r"\b[\w-]{22}(?= |$)"), "MEMBER"),
    (re.compile(r"\[20\d\d-[^\]]*\]"), "[TIME]"),
    (re.compile(r"TopicId: \S+"), "TopicId: ID"),
    (re.compile(r"[ \t]+"), " "),
)
"""What is drawn, or is a place; columns are as wide as what stands in them."""


def _obtain() -> Path:
    try:
        tools_jars(ALL_TOOLS, CSV)
    except JarsError as missing:
        raise NotObtainableError(str(missing)) from missing
    return _PROGRAM


def _run(program: Path, place: Place) -> Sequence[Case]:
    with tools_in_one_process(program, place.folder) as tools:
        return [*told(tools, place, preparation()), *told(tools, place, the_whole_story())]


@contextmanager
def tools_in_one_process(
    program: Path, folder: Path, logging: str = "-Dlog4j2.level=OFF"
) -> Iterator[Process]:
    """All tools for the time of the block, without the seconds in which each would start.

    Raises:
        NotObtainableError: there is no Java compiler.
    """
    with (folder / "tools.log").open("wb") as log:
        try:
            jars = tools_jars(ALL_TOOLS, CSV)
            tools = java_program(program, "peers.KafkaTools", jars, log, logging)
        except NoCompilerError as missing:
            raise NotObtainableError(str(missing)) from missing
        with closing(tools):
            yield tools


def told(tools: Process, place: Place, story: Sequence[Step]) -> Iterator[Case]:
    """Say each step to its tool, with members that live where the story wants them."""
    with ExitStack() as resources:
        if any(LIVE.intersection(step.arguments) for step in story):
            _members_join(resources, tools, place)
        asked: Counter[str] = Counter()
        for step in story:
            asked[str(step)] += 1
            again = asked[str(step)]
            name = f"{step}, again ({again})" if again > 1 else str(step)
            yield _case(name, step.status, *_said(tools, place, step))


def _members_join(resources: ExitStack, tools: Process, place: Place) -> None:
    """One console consumer of each protocol."""
    for group_id in sorted(LIVE):
        # Else what is committed would depend on the time that commands take.
        options = {"enable_auto_commit": "false", "group_protocol": group_id.partition("-")[2]}
        member = console_consumer(place.bootstrap_servers, group_id, "orders", **options)
        resources.enter_context(member)
    for group_id in sorted(LIVE):
        look = groups("--describe", "--group", group_id, "--members")
        until(
            lambda look=look: "console-consumer" in _said(tools, place, look)[1],  # type: ignore[misc]
            seconds=_JOIN_S,
            awaited=f"the member of {group_id}",
        )


def _said(tools: Process, place: Place, step: Step) -> tuple[int, str]:
    arguments = ["--bootstrap-server", place.bootstrap_servers, *step.arguments]
    arguments += _PATIENCE if step.tool == CONSUMER_GROUPS else ()
    arguments = [text.replace("FOLDER", str(place.folder)) for text in arguments]
    asked = {"tool": step.tool, "arguments": arguments, "input": step.input}
    [answer] = tools.say(json.encode(asked).decode())
    return answer["status"], answer["text"]


def _case(name: str, expected_status: int, status: int, text: str) -> Case:
    outcome = Outcome.PASSED if status == expected_status else Outcome.FAILED
    lines = sorted(line for line in map(_everywhere, text.splitlines()) if _is_told(line))
    return Case(name, outcome, f"status {status}: {' '.join(lines)}", tuple(lines))


def _is_told(line: str) -> bool:
    """Not a part of a stack trace."""
    return bool(line) and not line.startswith("at ")


def _everywhere(line: str) -> str:
    for pattern, text in _SAME_EVERYWHERE:
        line = pattern.sub(text, line)
    return line.strip()


KAFKA_TOOLS = Suite("Kafka's tools", _obtain, _run)
