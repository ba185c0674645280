"""`group-coordinator consume`: Kafka's kafka-console-consumer for groups of this coordinator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from kafka.errors import KafkaError

from group_coordinator import settings
from group_coordinator.cli.client_properties.options import connection_of
from group_coordinator.cli.consume.printing import Formatter, Printing, PrintingLimits, standard_out
from group_coordinator.cli.consume.sources import opened
from group_coordinator.cli.consume.wanted import Properties, ReadOptions, key_values, wanted
from group_coordinator.cli.shared_options import (
    INT64,
    LAST_INT32,
    NumberRange,
    bootstrap_server_option,
    settings_options,
)
from group_coordinator.clients.errors import ClientError
from group_coordinator.driver.signals import stop_on_signals_to_python

_KILLED_BY = 128
"""Exit status of a killed program in shells and in Kafka's tool, minus the number of the signal."""


@click.command()
@bootstrap_server_option("The broker. [bootstrap.servers]")
@click.option("--topic", help="The topic to read.")
@click.option(
    "--include",
    metavar="REGEX",
    help="Read all topics whose whole name matches this regular expression.",
)
@click.option(
    "--partition",
    type=NumberRange(0, LAST_INT32),
    help="Read only this partition, without a group.",
)
@click.option(
    "--offset",
    metavar="OFFSET",
    help="With --partition: a number, earliest or latest (the default).",
)
@click.option(
    "--from-beginning",
    is_flag=True,
    help="Begin with the oldest record if the group has no offset.",
)
@click.option(
    "--group",
    help="The group, whose offsets are committed. Without it a generated group, which commits nothing.",
)
@click.option(
    "--max-messages",
    type=NumberRange(-LAST_INT32 - 1, LAST_INT32),
    help="End after this number of records.",
)
@click.option("--timeout-ms", type=INT64, help="End after this time without a record.")
@click.option("--skip-message-on-error", is_flag=True, help="Skip records that cannot be printed.")
@click.option(
    "--isolation-level",
    type=click.Choice(["read_uncommitted", "read_committed"]),
    default="read_uncommitted",
    help="read_committed omits records of aborted transactions.",
)
@click.option(
    "--key-deserializer", metavar="CLASS", help="Short for key.deserializer of the formatter."
)
@click.option(
    "--value-deserializer", metavar="CLASS", help="Short for value.deserializer of the formatter."
)
@click.option(
    "--formatter-property",
    "--property",
    "formatter_property",
    multiple=True,
    metavar="KEY=VALUE",
    help="A property of the formatter, such as print.key=true or key.separator=:. Repeatable.",
)
@click.option(
    "--command-property",
    "--consumer-property",
    "command_property",
    multiple=True,
    metavar="KEY=VALUE",
    help="A property of Kafka's consumer, such as group.protocol=consumer. Repeatable.",
)
@click.option(
    "--command-config",
    "--consumer.config",
    "command_config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of such properties, also for the login.",
)
@settings_options
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    bootstrap_server: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
    **given: Any,
) -> None:
    """Print the records of topics, as a member of a group that this project's job coordinates.

    Options and output are those of Kafka's kafka-console-consumer. Without --group (or the property group.id)
    the group is named console-consumer-NNNNN, and commits no offsets unless enable.auto.commit=true (KIP-211): no other
    consumer would use them. With --group, offsets are committed every auto.commit.interval.ms and at the end. Records
    come from the brokers. To join a group takes a few seconds.

    It runs until Ctrl-C or SIGTERM, with exit status 130 or 143, or until --max-messages or --timeout-ms end it with
    status 0. The number of printed records is written to standard error.

    \b
    Examples:
      group-coordinator consume --topic orders --from-beginning --max-messages 10
      group-coordinator consume --topic orders --group billing --formatter-property print.key=true
      group-coordinator consume --include 'order.*' --group audit --command-property group.protocol=consumer
      group-coordinator consume --topic orders --partition 0 --offset 4711 --formatter-property print.timestamp=true
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    properties = Properties(given["command_config"], given["command_property"])
    asked = ReadOptions(**{name: given[name] for name in ReadOptions.__slots__})
    what = wanted(asked, properties, given["isolation_level"])
    formatter = Formatter(_formatter_properties(given))
    job = settings.load(config, overrides).job
    # As in Kafka's tools, the option overrides the file.
    servers = bootstrap_server or job.bootstrap_servers
    connection = connection_of(servers, job.security, what.connecting, properties.origin)
    with stop_on_signals_to_python() as stop, standard_out() as out:
        try:
            with opened(what, connection, job) as source:
                Printing(source, formatter, _limits(given), out).run(stop, what.most)
        except (ClientError, KafkaError, ValueError) as error:
            raise click.ClickException(str(error)) from error
    if stop.number is not None:
        context.exit(_KILLED_BY + stop.number)


def _formatter_properties(given: dict[str, Any]) -> dict[str, str]:
    # The short options are defaults of the formatter's properties.
    short = {
        f"{part}.deserializer": given[f"{part}_deserializer"]
        for part in ("key", "value")
        if given[f"{part}_deserializer"]
    }
    return short | key_values(given["formatter_property"])


def _limits(given: dict[str, Any]) -> PrintingLimits:
    most, timeout_ms = given["max_messages"], given["timeout_ms"]
    # As in Kafka, -1 records and a negative timeout mean no limit.
    return PrintingLimits(
        None if most in (None, -1) else max(most, 0),
        None if timeout_ms is None or timeout_ms < 0 else timeout_ms / 1000,
        given["skip_message_on_error"],
    )
