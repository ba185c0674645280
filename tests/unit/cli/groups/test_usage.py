from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from deltalake import write_deltalake
from pyarrow import table

from group_coordinator import __version__
from group_coordinator.cli.groups import command, usage
from group_coordinator.cli.groups.options import duration_ms, timestamp_ms
from group_coordinator.cli.groups.output import print_failure_of_group
from group_coordinator.cli.groups.usage import TopicChoice
from group_coordinator.cli.main import main
from group_coordinator.clients.errors import ClientError, GroupIdNotFoundError, NonEmptyGroupError


def groups(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


WRONG_USAGE = {
    "": (
        "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, "
        "--delete-offsets, --validate-regex"
    ),
    "--list --describe --all-groups": "Command must include exactly one action",
    "--describe": "Option [describe] takes one of these options: [group], [all-groups]",
    "--describe --group g --members --state": (
        "Option [describe] takes at most one of these options: [members], [offsets], [state]"
    ),
    "--describe --group g --state stable": "Option [describe] does not take a value for [state]",
    "--describe --group g --topic t": 'Option "[topic]" can\'t be used with option "[describe]"',
    "--describe --group g --all-groups": (
        'Option "[group]" can\'t be used with option "[all-groups]"'
    ),
    "--describe --group g --type": "Option(s) [type] are unavailable given other options",
    "--list --group g": 'Option "[group]" can\'t be used with option "[list]"',
    "--list --members": "Option(s) [members] are unavailable given other options",
    "--list --state nonsense": (
        "Invalid state list 'nonsense'. Valid states are: PreparingRebalance, CompletingRebalance,"
    ),
    "--list --type classic,share": (
        "Invalid types list 'classic,share'. Valid types are: Classic, Consumer"
    ),
    "--delete": "Option [delete] takes one of these options: [group], [all-groups]",
    "--delete --group g --topic t": (
        "The consumer does not support topic-specific offset deletion from a consumer group."
    ),
    "--delete --group g --state": "Option(s) [state] are unavailable given other options",
    "--delete-offsets --group g": (
        "Option [delete-offsets] takes the following options: [topic], [group]"
    ),
    "--delete-offsets --group g --group h --topic t": (
        "Found multiple arguments for option group, but you asked for only one"
    ),
    "--delete-offsets --group g --topic t:x": (
        "Invalid partition 'x' specified in topic arg 't:x''"
    ),
    "--delete-offsets --group g --topic t:2147483648": (
        "Invalid partition '2147483648' specified in topic arg 't:2147483648''"
    ),
    f"--reset-offsets --group g --topic t:{'1' * 5_000} --to-latest": (
        f"Invalid partition '{'1' * 5_000}' specified in topic arg"
    ),
    **{
        f"--delete-offsets --group g --topic t:{numbers}": (
            f"Invalid partition '{wrong}' specified in topic arg 't:{numbers}''"
        )
        for numbers, wrong in {
            ",0": "",
            "0,,1": "",
            "1_0": "1_0",
            "1.0": "1.0",
            "-2147483649": "-2147483649",
        }.items()
    },
    "--delete-offsets --group g --topic t::0": (
        "Invalid topic arg 't::0', expected topic name and partitions"
    ),
    **{
        f"--reset-offsets --group g --all-topics --{option}={text}": told
        for option in ("to-offset", "shift-by")
        for text, told in {
            "1_0": f"Invalid value for '--{option}': '1_0' is not a whole number.",
            "9223372036854775808": f"Invalid value for '--{option}': 9223372036854775808 is not in the range",
            "-9223372036854775809": f"Invalid value for '--{option}': -9223372036854775809 is not in the",
        }.items()
    },
    "--list --timeout 1_0": "Invalid value for '--timeout': '1_0' is not a whole number.",
    "--delete-offsets --group g --topic t:": (
        "Invalid topic arg 't:', expected topic name and partitions"
    ),
    "--reset-offsets --topic t --to-latest": (
        "Option [reset-offsets] takes one of these options: [group], [all-groups]"
    ),
    "--reset-offsets --group g": (
        "One of the reset scopes should be defined: --all-topics, --topic."
    ),
    "--reset-offsets --group g --topic t": (
        "Option '[reset-offsets]' requires one of the following scenarios: [[to-offset],"
    ),
    "--reset-offsets --group g --topic t --to-latest --dry-run --execute": (
        "Option [reset-offsets] only accepts one of [execute] and [dry-run]"
    ),
    "--reset-offsets --group g --topic t --to-offset 0 --shift-by 0": (
        'Option "[to-offset]" can\'t be used with option "[shift-by]"'
    ),
    "--reset-offsets --group g --all-topics --to-group h": (
        'Option "[to-group]" can\'t be used with option "[all-topics]"'
    ),
    "--reset-offsets --group g --all-topics --to-latest --export -o json": (
        'Option "[export]" can\'t be used with option "[output]"'
    ),
    "--reset-offsets --group g --all-topics --by-duration 1h": (
        "Invalid value for '--by-duration': Text cannot be parsed to a Duration"
    ),
    "--reset-offsets --group g --all-topics --to-datetime today": (
        "Invalid value for '--to-datetime': Error parsing timestamp. It does not contain a 'T'"
    ),
    "--reset-offsets --group g --from-file missing": "'missing' does not exist",
    "--delete --group g --dry-run": "Option(s) [dry-run] are unavailable given other options",
    "--describe --group g --regex h": 'Option "[regex]" can\'t be used with option "[group]"',
    "--describe --all-groups --members --only-with-lag": (
        'Option "[only-with-lag]" can\'t be used with option "[members]"'
    ),
    "--delete-offsets --regex g": "Option(s) [regex] are unavailable given other options",
    "--list --output xml": "'xml' is not one of 'table', 'json', 'yaml'",
    "--list --timeout 0": "Invalid value for '--timeout'",
    "--list --timeout 2147483648": "Invalid value for '--timeout': 2147483648 is not in the range",
    "--list --command-config missing": "'missing' does not exist",
}


@pytest.mark.parametrize("arguments", WRONG_USAGE)
def test_wrong_usage(arguments: str) -> None:
    result = groups(*arguments.split())

    assert result.exit_code == 2
    assert WRONG_USAGE[arguments] in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_version() -> None:
    result = groups("--version")

    assert (result.exit_code, result.stdout.split()[-1]) == (0, __version__)


def test_partitions_of_a_topic() -> None:
    assert usage.topic_choice("orders") == TopicChoice("orders", None)
    assert usage.topic_choice("orders:0,12") == TopicChoice("orders", (0, 12))


@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ("orders:0,", (0,)),
        ("orders:0,1,,", (0, 1)),
        ("orders:0:", (0,)),
        ("orders:+1", (1,)),
        ("orders:-1", (-1,)),
        ("orders:-0", (0,)),
        ("orders:\u0661", (1,)),
        ("orders:007", (7,)),
        ("orders:,", ()),
    ],
)
def test_partitions_are_read_as_by_kafkas_tool(text: str, partitions: tuple[int, ...]) -> None:
    assert usage.topic_choice(text) == TopicChoice("orders", partitions)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Groups as compaction leaves them."""
    groups_table = table(
        {
            "cluster_id": ["default", "default", "default", "default", "another"],
            "group_id": ["zeta", "alpha", "connect-sink", "beta", "alpha"],
            "group_type": ["classic", "classic", "classic", "consumer", "classic"],
            "state": ["Empty", "Stable", "Stable", "Reconciling", "Empty"],
            "protocol_type": [None, "consumer", "connect", "consumer", "consumer"],
        }
    )
    write_deltalake(str(tmp_path / "groups"), groups_table)
    return tmp_path


def listed(tables: Path, *arguments: str) -> list[str]:
    result = groups("--list", *arguments, "--set", f"tables.root={tables}")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_names_of_all_consumer_groups(tables: Path) -> None:
    assert listed(tables) == ["alpha", "beta", "zeta"]


def test_types_and_states(tables: Path) -> None:
    assert listed(tables, "--state", "--type") == [
        "GROUP                     TYPE                 STATE               ",
        "alpha                     Classic              Stable              ",
        "beta                      Consumer             Reconciling         ",
        "zeta                      Classic              Empty               ",
    ]


def test_only_some_states(tables: Path) -> None:
    assert listed(tables, "--state", "STABLE, empty")[1:] == [
        "alpha                     Stable              ",
        "zeta                      Empty               ",
    ]


def test_only_some_types(tables: Path) -> None:
    assert listed(tables, "--type", "consumer")[1:] == [
        "beta                      Consumer            "
    ]


def test_names_that_the_encoding_lacks_are_escaped(tmp_path: Path) -> None:
    name = "\u202eé😀"
    rows = {
        "cluster_id": ["default"],
        "group_id": [name],
        "group_type": ["classic"],
        "state": ["Empty"],
        "protocol_type": ["consumer"],
    }
    write_deltalake(str(tmp_path / "groups"), table(rows))
    line = ["groups", "--list", "--set", f"tables.root={tmp_path}"]

    texts = {
        kind: CliRunner(charset="latin-1").invoke(main, [*line, "-o", kind]).stdout
        for kind in ("table", "json", "yaml")
    }

    assert texts == {
        "table": "\\u202eé\\U0001f600\n",
        "json": '[\n  {\n    "group": "\\u202eé\\ud83d\\ude00"\n  }\n]\n',
        "yaml": '- group: "\\u202E\\xE9\\U0001F600"\n',
    }
    assert json.loads(texts["json"]) == yaml.safe_load(texts["yaml"]) == [{"group": name}]


def test_the_groups_of_one_cluster_of_those_that_share_the_tables(tables: Path) -> None:
    assert listed(tables, "--set", "cluster.id=another") == ["alpha"]


def test_no_tables(tmp_path: Path) -> None:
    result = groups("--list", "--set", f"tables.root={tmp_path}")

    assert result.exit_code == 1
    assert result.stderr == (
        "\nError: Executing consumer group command failed due to "
        f"tables.root = {tmp_path} has no tables: run `group-coordinator init`\n"
    )


def test_no_broker() -> None:
    result = groups("--describe", "--group", "g", "--bootstrap-server", "127.0.0.1:1")

    assert result.exit_code == 1
    assert result.stderr == (
        "\nError: Executing consumer group command failed due to no Kafka broker responds (127.0.0.1:1: "
        "Connection refused)\n"
    )


FAILED = "\nError: Executing consumer group command failed due to "


@pytest.mark.parametrize(
    ("group", "error", "said"),
    [
        ("empty", NonEmptyGroupError(), "The group is not empty. (group 'empty')"),
        ("billing", GroupIdNotFoundError("Group billing not found."), "Group billing not found."),
        ("other", GroupIdNotFoundError("No such."), "No such. (group 'other')"),
        ("", NonEmptyGroupError(), "The group is not empty. (group '')"),
    ],
)
def test_a_failure_of_a_group_names_it_once(
    capsys: pytest.CaptureFixture[str], group: str, error: ClientError, said: str
) -> None:
    print_failure_of_group(group, error)

    line = capsys.readouterr().err
    assert line.startswith(FAILED)
    assert line.endswith(f": {said}\n")


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("PT1S", 1_000),
        ("PT0.5S", 500),
        ("PT1,25S", 1_250),
        ("PT90M", 5_400_000),
        ("P2D", 172_800_000),
        ("P1DT2H3M4.005S", 93_784_005),
        ("pt1h", 3_600_000),
        ("-PT1H", -3_600_000),
        ("PT-1H", -3_600_000),
        ("PT1H-30M", 1_800_000),
    ],
)
def test_durations_are_javas(text: str, milliseconds: int) -> None:
    assert duration_ms(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1H", "P1H", "PT1D", "PT1H ", "P1Y", "PT1.5H"]
)
def test_no_duration(text: str) -> None:
    with pytest.raises(click.BadParameter, match="Text cannot be parsed to a Duration"):
        duration_ms(text)


@pytest.mark.parametrize(
    "text",
    [
        *("P99999999999999D", "-P99999999999999D", f"PT{'9' * 400}S", f"PT{'9' * 5_000}H"),
        f"P{'9' * 400}DT-{'9' * 400}H",
    ],
)
def test_longer_than_time_is(text: str) -> None:
    with pytest.raises(click.BadParameter, match="Text cannot be parsed to a Duration: overflow"):
        duration_ms(text)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("2023-11-14T22:13:20.000", 1_700_000_000_000),
        ("2023-11-14T22:13:20.123Z", 1_700_000_000_123),
        ("2023-11-15T00:13:20.000+02:00", 1_700_000_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000_000),
        ("1969-12-31T23:59:59.999", -1),
    ],
)
def test_times_are_utc_unless_they_say_so(text: str, milliseconds: int) -> None:
    assert timestamp_ms(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2023-11-14", "2023-11-14 22:13:20", "2023-13-01T00:00:00.000"]
)
def test_no_time(text: str) -> None:
    with pytest.raises(click.BadParameter):
        timestamp_ms(text)
