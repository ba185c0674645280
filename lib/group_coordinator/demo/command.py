"""`group-coordinator demo`: everything at work on this machine, in a few minutes."""

from __future__ import annotations

import click

from group_coordinator.clients.errors import ClientError
from group_coordinator.demo.cast import CastError
from group_coordinator.demo.interruption import Interrupted, Interruption
from group_coordinator.demo.plan import STORY_S, Plan
from group_coordinator.local.child_process import CommandFailedError


@click.command()
@click.option("--keep", is_flag=True, help="Keep everything: topics, checkpoint and logs too.")
@click.option(
    "--bootstrap-server",
    metavar="HOST:PORT",
    help="Use this Kafka cluster, with topics of the demo's own.  [default: a broker is started]",
)
@click.option(
    "--duration",
    type=click.IntRange(min=20),
    default=STORY_S,
    show_default=True,
    metavar="SECONDS",
    help="How long the story is; in less than 85 not all is seen to expire.",
)
@click.option("--groups", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--members", type=click.IntRange(min=1), default=150, show_default=True)
@click.pass_context
def command(
    context: click.Context,
    /,
    keep: bool,
    bootstrap_server: str | None,
    duration: int,
    groups: int,
    members: int,
) -> None:
    """Show everything at work on this machine, in about three minutes.

    A Kafka broker and the job are started, and a shop is opened: some fifty groups, half of them of
    the new protocol (KIP-848), read its topics, rebalance, commit and leave. One is upgraded from the
    old protocol to the new one while it works. Offsets are kept for one minute only, so that they can
    be seen to expire. A screen shows what happens; in the end the tables are asked about it.

    The tables and a chart stay, in a folder below the current one. Ctrl-C ends the demo at any time.
    """
    with Interruption() as interruption:
        # The imports take half a second: a Ctrl-C must not be lost in them.
        from group_coordinator.demo import performance

        try:
            wanted = Plan(groups, members, duration, keep, bootstrap_server)
            performance.perform(wanted, interruption)
        except CastError as error:
            raise click.UsageError(str(error)) from error
        except (ClientError, CommandFailedError) as error:
            raise click.ClickException(str(error)) from error
        except Interrupted as wish:
            click.echo(str(wish), err=True)
            context.exit(wish.exit_status)
