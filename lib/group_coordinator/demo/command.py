"""`group-coordinator demo`: all parts at work on this machine, in a few minutes."""

from __future__ import annotations

import secrets

import click

from group_coordinator.cli.shared_options import NumberRange, bootstrap_server_option, reject_given
from group_coordinator.clients.errors import ClientError
from group_coordinator.demo.coordinator.applications import TooFewMembersError
from group_coordinator.demo.stage import Interrupted, Interruption
from group_coordinator.demo.story import COORDINATOR, GATEWAY, MIRROR, DemoOptions
from group_coordinator.local.child_process import CommandFailedError


@click.command()
@click.option("--mirror", is_flag=True, help="Another show: a mirror of ordinary consumers.")
@click.option(
    "--gateway", is_flag=True, help="Another show: ordinary clients, whose groups the job has."
)
@click.option("--keep", is_flag=True, help="Keep everything: topics, checkpoint and logs too.")
@bootstrap_server_option(
    "Use this Kafka cluster, with topics of the demo's own.  [default: a broker is started]"
)
@click.option(
    "--duration",
    type=NumberRange(min=20),
    metavar="SECONDS",
    help=f"How long the story is; a shorter story sees no offsets expire.  [default: {COORDINATOR.story_s}, of the mirror {MIRROR.story_s}, of the gateway {GATEWAY.story_s}]",
)
@click.option("--groups", type=NumberRange(min=1), default=50, show_default=True)
@click.option("--members", type=NumberRange(min=1), default=150, show_default=True)
@click.pass_context
def command(
    context: click.Context,
    /,
    mirror: bool,
    gateway: bool,
    keep: bool,
    bootstrap_server: str | None,
    duration: int | None,
    groups: int,
    members: int,
) -> None:
    """Show everything at work on this machine, in about four minutes.

    A Kafka broker and the job are started, and a shop is opened: some fifty groups, half of them of
    the new protocol (KIP-848), join, rebalance, commit and leave. One is upgraded from the old protocol
    to the new one while it works. Offsets are kept for one minute only, so that some expire. A screen
    shows the events; at the end SQL queries of the tables explain them.

    With --mirror the groups are those of the broker: ordinary consumers, without any knowledge of this
    program, are read through __consumer_offsets. One is too slow, one is stuck, one hangs. An
    administrator resets a group, deletes another group, and deletes a topic. At the end the tables show
    which group lost which offsets, and why. On your own cluster no offset expires during the demo.

    With --gateway the clients are ordinary too: librdkafka, kafka-python and Kafka's console consumer.
    Their groups are the job's, and their only setting is the gateway's address. Kafka's own
    kafka-consumer-groups lists, describes, resets and deletes them. This demo has its own broker.

    The tables and a report stay in a folder below the current one. On your own cluster the demo
    removes its groups and topics at the end. Ctrl-C ends the demo at any time.
    """
    if mirror or gateway:
        reject_given(
            "groups",
            "members",
            why="is for the demo without --mirror or --gateway, which have groups of their own",
        )
    if gateway and mirror:
        raise click.UsageError("--mirror and --gateway are two demos: choose one")
    if gateway and bootstrap_server is not None:
        raise click.UsageError(
            "--bootstrap-server: the demo of the gateway has a broker of its own"
        )
    times = GATEWAY if gateway else MIRROR if mirror else COORDINATOR
    # On a shared cluster no other topic or group has such a name.
    prefix = "" if bootstrap_server is None else f"demo-{secrets.token_hex(3)}-"
    options = DemoOptions(times, duration or times.story_s, keep, bootstrap_server, prefix)
    with Interruption() as interruption:
        try:
            _run(options, groups, members, interruption)
        except TooFewMembersError as error:
            raise click.UsageError(str(error)) from error
        except (ClientError, CommandFailedError) as error:
            raise click.ClickException(str(error)) from error
        except Interrupted as wish:
            click.echo(str(wish), err=True)
            context.exit(wish.exit_status)


def _run(options: DemoOptions, groups: int, members: int, interruption: Interruption) -> None:
    # These imports take half a second: a Ctrl-C must not be lost in them.
    from group_coordinator.demo.runner import Show, run

    show: Show
    if options.times is GATEWAY:
        from group_coordinator.demo.gateway import GatewayShow

        show = GatewayShow(options)
    elif options.times is MIRROR:
        from group_coordinator.demo.mirror import MirrorShow

        show = MirrorShow(options)
    else:
        from group_coordinator.demo.coordinator.show import CoordinatorShow

        show = CoordinatorShow(options, groups, members)
    run(show, options, interruption)
