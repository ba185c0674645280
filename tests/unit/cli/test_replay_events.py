from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from group_coordinator.cli.main import main
from group_coordinator.cli.replay_events import command

COMMIT = {
    "api": "OffsetCommit",
    "version": 8,
    "correlationId": "c-1",
    "body": {
        "groupId": "gruppe-ß",
        "topics": [
            {"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}
        ],
    },
}
STORY = (
    json.dumps({"at": 0, "event": COMMIT}, ensure_ascii=False) + '\n\n{"at": 60000}\n'
).encode()
RETENTION = ("--set", "offsets.retention.ms=60000")
SWEEPS = ("--set", "offsets.retention.check.interval.ms=1000")


def run(*arguments: str, story: bytes = STORY) -> Result:
    return CliRunner().invoke(command, arguments, input=story)


def kinds(result: Result) -> list[str]:
    return [json.loads(line)["kind"] for line in result.stdout_bytes.splitlines()]


def test_lines_from_standard_input() -> None:
    result = run(*RETENTION, *SWEEPS)

    assert result.exit_code == 0
    assert kinds(result) == ["record", "response", "done", "record", "record", "done"]
    assert '"groupId":"gruppe-ß"'.encode() in result.stdout_bytes
    assert result.stdout_bytes.endswith(b'{"kind":"done"}\n')


def test_names_that_cannot_be_seen_are_escaped() -> None:
    result = run(story='{"at": 0}\n{"describe": "\u202e\x9bß\U000e0001"}\n'.encode())

    [line] = [each for each in result.stdout_bytes.splitlines() if b"groupId" in each]
    assert b'"groupId":"\\u202e\\u009b\xc3\x9f\\udb40\\udc01"' in line
    assert json.loads(line)["groupId"] == "\u202e\x9bß\U000e0001"


def test_lines_from_a_file(tmp_path: Path) -> None:
    story = tmp_path / "story.jsonl"
    story.write_bytes(STORY)

    result = run(str(story), story=b"")

    assert kinds(result) == ["record", "response", "done", "done"]


def test_settings_from_a_file(tmp_path: Path) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text(
        "offsets.retention.ms = 60000\noffsets.retention.check.interval.ms = 1000\n"
    )

    assert kinds(run("--config", str(settings)))[-3:] == ["record", "record", "done"]


def test_an_unknown_setting_is_wrong_usage() -> None:
    result = CliRunner().invoke(main, ["replay-events", "--set", "offsets.retention=1"])

    assert result.exit_code == 2
    assert "offsets.retention is not a setting" in result.stderr


def test_a_line_that_is_no_text_is_an_error_and_not_the_end() -> None:
    result = run(story=b'\xff\n{"at": 1}')

    assert result.exit_code == 0
    assert kinds(result) == ["error", "done", "done"]


def test_a_program_can_hold_a_conversation() -> None:
    talk = "from group_coordinator.cli.main import main; main()"
    with subprocess.Popen(  # noqa: S603 - a fixed program
        [sys.executable, "-c", talk, "replay-events"],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: list[dict[str, Any]] = []
        for at_ms in (1, 2):
            process.stdin.write(json.dumps({"at": at_ms, "event": COMMIT}) + "\n")
            process.stdin.flush()
            while not answers or answers[-1]["kind"] != "done":
                answers.append(json.loads(process.stdout.readline()))
            assert [answer["kind"] for answer in answers] == ["record", "response", "done"]
            assert answers.pop(1)["at"] == at_ms
            answers.clear()
        process.stdin.close()
    assert process.returncode == 0
