"""`group-coordinator`: the entry point, which finds the command and turns errors into exit statuses."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import click

from group_coordinator import __version__
from group_coordinator.cli.user_errors import escape_missing_characters, user_errors_shown
from group_coordinator.driver.signals import TerminatedError, signals_raised_in_python
from group_coordinator.settings import SettingsError

COMMANDS = {
    "demo": ("demo.command", "Show everything at work on this machine, in a few minutes."),
    "broker": ("cli.broker", "Start or stop a Kafka broker on this machine."),
    "init": ("cli.init", "Create the topics and the tables; safe to repeat."),
    "check": ("cli.check", "Check the prerequisites of a run, and say how to fix them."),
    "run": ("cli.run", "Run the coordinator: events in, responses and log out."),
    "rebuild": ("cli.rebuild", "Rebuild a lost checkpoint from the log."),
    "compact": ("cli.compact", "Compact the log into the state tables."),
    "groups": ("cli.groups", "Describe, delete and reset groups, like kafka-consumer-groups."),
    "consume": ("cli.consume", "Print a topic's records, like kafka-console-consumer."),
    "gateway": ("cli.gateway", "Coordinate the groups of Kafka's own clients by the job."),
    "mirror": ("cli.mirror", "Read a live cluster's __consumer_offsets into the tables."),
    "positions": ("cli.positions", "Sample the start and end offsets of topics."),
    "labels": ("cli.labels", "Give groups their owners and objectives, from a file."),
    "sql": ("cli.sql", "Query the tables, now or as of an earlier time."),
    "report": ("cli.report", "Show the groups on an HTML page, once or continuously."),
    "mcp": ("cli.mcp", "Let agents ask about groups, by the Model Context Protocol."),
    "restore": ("cli.restore", "Put committed offsets back as they were at an earlier time."),
    "export": ("cli.export", "Write committed offsets to a file: Parquet or Kafka's CSV."),
    "import": ("cli.import_offsets", "Put the offsets of such a file back into their groups."),
    "what-if": ("cli.what_if", "Show which offsets another retention would have removed."),
    "replay-events": (
        "cli.replay_events",
        "Try events on the state machine, without Kafka or Spark.",
    ),
}
"""Name -> (module, help), in the order in which a new user meets them."""

_EXTRAS = {
    **dict.fromkeys(("delta", "pyspark", "rich"), "local"),
    **dict.fromkeys(("altair", "jinja2", "vl_convert"), "report"),
    "mcp": "mcp",
}
"""Modules that a cluster does not need, and the extra of each."""

_CTRL_C = 130
"""Exit status of shells after Ctrl-C: 128 + SIGINT."""


class LazyGroup(click.Group):
    """Command group that imports a command at its use, so that commands without Spark start at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        try:
            command: click.Command = import_module(f"group_coordinator.{module}").command
        except ModuleNotFoundError as error:
            # A missing module of our own is a defect.
            if error.name not in _EXTRAS:
                raise
            raise click.ClickException(
                f"{cmd_name} needs {error.name}: pip install 'spark-group-coordinator[{_EXTRAS[error.name]}]'"
            ) from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, meaning) for name, (_, meaning) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; errors that a user can fix have status 1, wrong usage 2."""
        try:
            escape_missing_characters()
            with user_errors_shown(), _all_written(), signals_raised_in_python():
                return super().invoke(ctx)
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
        except UnicodeEncodeError as error:
            # Python keeps undecodable bytes of an argument as surrogates.
            if error.reason != "surrogates not allowed":
                raise
            raise click.UsageError(f"{error.object[: error.end]!r} is not UTF-8") from error
        except TerminatedError:
            click.echo("Terminated.", err=True)
            ctx.exit(TerminatedError.status)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(_CTRL_C)


@contextmanager
def _all_written() -> Iterator[None]:
    try:
        try:
            yield
        finally:
            # The rest of the buffer is written here, as an error at Python's end would be lost.
            click.echo(nl=False)
    except OSError as error:
        if error.errno not in {errno.EPIPE, errno.ENOSPC}:
            raise
        # Python would try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            raise click.exceptions.Exit(1) from error
        raise click.ClickException(
            f"{error.filename or 'standard output'}: {error.strerror}"
        ) from error


@click.group(cls=LazyGroup, context_settings={"max_content_width": 100})
@click.version_option(__version__, prog_name="group-coordinator")
def main() -> None:
    """Kafka's group coordinator as a Spark job.

    Consumer groups send their joins, heartbeats and offset commits to a Kafka topic. The job responds to
    each as a Kafka broker would, and writes the whole history of every group to Delta tables: committed
    offsets, lost offsets with time and reason, and the next expirations.

    \b
    See it work, with Python and Java alone:
      group-coordinator demo

    \b
    Or step by step:
      group-coordinator broker start      # or your own: --bootstrap-server HOST:PORT
      group-coordinator init
      group-coordinator run               # until Ctrl-C
      group-coordinator groups --list     # in another terminal
      group-coordinator sql "SELECT group_id, state FROM groups"

    \b
    Or look at an existing cluster, without a change of its clients:
      group-coordinator mirror --bootstrap-server HOST:PORT --cluster NAME --with-compaction
      group-coordinator report --watch    # in another terminal

    COMMAND --help explains a command. All settings are in conf/coordinator.toml; --set KEY=VALUE
    overrides a setting.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


if __name__ == "__main__":
    main()
