"""`group-coordinator demo`: all parts at work on this machine, in a few minutes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from group_coordinator.cli.option_types import NumberRange
from group_coordinator.cli.settings_options import bootstrap_server_option, refuse_given
from group_coordinator.clients.errors import ClientError
from group_coordinator.demo.cast import CastError
from group_coordinator.demo.gateway.plan import STORY_S as GATEWAY_STORY_S
from group_coordinator.demo.gateway.plan import GatewayPlan
from group_coordinator.demo.interruption import Interrupted, Interruption
from group_coordinator.demo.mirror.plan import STORY_S as MIRROR_STORY_S
from group_coordinator.demo.mirror.plan import MirrorPlan, unique_prefix
from group_coordinator.demo.plan import STORY_S, Plan
from group_coordinator.local.child_process import CommandFailedError

_OWN_CASTS = "is of the demo without --mirror or --gateway, which have casts of their own"


@click.command()
@click.option("--mirror", is_flag=True, help="The other demo: a mirror of ordinary consumers.")
@click.option(
    "--gateway", is_flag=True, help="The third demo: ordinary clients, whose groups the job has."
)
@click.option("--keep", is_flag=True, help="Keep everything: topics, checkpoint and logs too.")
@bootstrap_server_option(
    "Use this Kafka cluster, with topics of the demo's own.  [default: a broker is started]"
)
@click.option(
    "--duration",
    type=NumberRange(min=20),
    metavar="SECONDS",
    help=f"How long the story is; in less not all is seen to expire.  [default: {STORY_S}, of the mirror {MIRROR_STORY_S}, of the gateway {GATEWAY_STORY_S}]",
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
    """Show everything at work on this machine, in about three minutes.

    A Kafka broker and the job are started, and a shop is opened: some fifty groups, half of them of
    the new protocol (KIP-848), read its topics, rebalance, commit and leave. One is upgraded from the
    old protocol to the new one while it works. Offsets are kept for one minute only, so that they can
    be seen to expire. A screen shows what happens; in the end the tables are asked about it.

    With --mirror the groups are those of the broker: ordinary consumers, which know nothing of us, are
    watched through __consumer_offsets. One is too slow, one is stuck, one hangs; somebody sets a group
    back, deletes another one, deletes a topic. In the end the tables tell who lost what, and why.
    On a cluster of yours nothing is seen to expire, and the demo removes its groups and topics again.

    With --gateway the clients are ordinary ones too, librdkafka, kafka-python and Kafka's console consumer,
    and their groups are the job's: all they were told is the gateway's address. Kafka's own
    kafka-consumer-groups lists, describes, resets and deletes them. It has a broker of its own.

    The tables and a chart, or a report, stay in a folder below the current one. Ctrl-C ends the demo at any time.
    """
    perform: Callable[[Interruption], None]
    if mirror or gateway:
        refuse_given("groups", "members", why=_OWN_CASTS)
    if gateway:
        _refuse_options_of_the_others(mirror=mirror, bootstrap_server=bootstrap_server)
        perform = partial(_gateway, GatewayPlan(duration or GATEWAY_STORY_S, keep))
    elif mirror:
        prefix = "" if bootstrap_server is None else unique_prefix()
        plan = MirrorPlan(duration or MIRROR_STORY_S, keep, bootstrap_server, prefix)
        perform = partial(_mirror, plan)
    else:
        perform = partial(
            _coordinator, Plan(groups, members, duration or STORY_S, keep, bootstrap_server)
        )
    with Interruption() as interruption:
        try:
            perform(interruption)
        except CastError as error:
            raise click.UsageError(str(error)) from error
        except (ClientError, CommandFailedError) as error:
            raise click.ClickException(str(error)) from error
        except Interrupted as wish:
            click.echo(str(wish), err=True)
            context.exit(wish.exit_status)


# The imports of a performance take half a second: a Ctrl-C must not be lost in them.
def _coordinator(plan: Plan, interruption: Interruption) -> None:
    from group_coordinator.demo.performance import perform

    perform(plan, interruption)


def _mirror(plan: MirrorPlan, interruption: Interruption) -> None:
    from group_coordinator.demo.mirror.performance import perform

    perform(plan, interruption)


def _gateway(plan: GatewayPlan, interruption: Interruption) -> None:
    from group_coordinator.demo.gateway.performance import perform

    perform(plan, interruption)


def _refuse_options_of_the_others(*, mirror: bool, bootstrap_server: str | None) -> None:
    if mirror:
        raise click.UsageError("--mirror and --gateway are two demos")
    if bootstrap_server is not None:
        raise click.UsageError(
            "--bootstrap-server: the demo of the gateway has a broker of its own"
        )
