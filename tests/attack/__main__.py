"""Does the gateway, or a command, do what an attacker wants?

    python -m tests.attack [--list] [--hostile-connections 2000] [NAME ...]

A real broker with SASL, TLS and an authorizer, `group-coordinator gateway` in a process of its own before it, and the state
machine in the job's place. Each attack says what was sent, what came back, and whether it got through.

Prints a table in Markdown. The status is 1 if an attack got through. `hostile-connections` measures times: run nothing
else on the machine meanwhile.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.attack import after_login, before_login, commands, starts
from tests.attack.divided_brokers import word_of_one_broker
from tests.attack.flood import flood_of_one_user
from tests.attack.hostile_connections import hostile_connections
from tests.attack.outcome import Attack, Outcome, table
from tests.attack.stage import Stage, open_stage

NO_LOGIN = "no login"
A_LOGIN = "a login"
A_RIGHT = "a right on one group"
THE_MACHINE = "another user of the machine"
THE_NETWORK = "another host"


def attacks(connections: int) -> list[Attack[Stage]]:
    """Return all attacks, in the order in which they are tried."""
    return [
        Attack("frames-above-limit", NO_LOGIN, before_login.frames_above_their_limit),
        Attack("long-name", NO_LOGIN, before_login.long_name),
        Attack("unfinished-frames", NO_LOGIN, before_login.unfinished_frames),
        Attack("connections-of-one-address", NO_LOGIN, before_login.connections_of_one_address),
        Attack("endless-logins", NO_LOGIN, before_login.endless_logins),
        Attack(
            "hostile-connections", NO_LOGIN, partial(hostile_connections, connections=connections)
        ),
        Attack("oversized-group-requests", A_LOGIN, after_login.oversized_group_requests),
        Attack("topics-of-the-job", A_LOGIN, after_login.topics_of_the_job),
        Attack("unknown-topic-ids", A_RIGHT, after_login.unknown_topic_ids),
        Attack("metadata-looks", A_RIGHT, after_login.metadata_looks),
        Attack("groups-that-are-no-text", A_RIGHT, after_login.groups_that_are_no_text),
        Attack("word-of-one-broker", A_LOGIN, word_of_one_broker),
        Attack("flood-of-one-user", A_RIGHT, flood_of_one_user),
        Attack("lent-certificate", NO_LOGIN, starts.lent_certificate),
        Attack("passwords-in-clear-text", THE_NETWORK, starts.passwords_in_clear_text),
        Attack("redirected-secret", THE_NETWORK, commands.redirected_secret),
        Attack("other-hosts-certificate", THE_NETWORK, commands.other_hosts_certificate),
        Attack("rebound-host", THE_NETWORK, commands.rebound_host),
        Attack("planted-module", THE_MACHINE, commands.planted_module),
        Attack("secrets-in-arguments", THE_MACHINE, commands.secrets_in_arguments),
        Attack("sql-that-writes", "whose SQL is passed on", commands.sql_that_writes),
    ]


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[NAME ...]")
@click.option("--list", "list_only", is_flag=True, help="Name the attacks, and end.")
@click.option(
    "--hostile-connections", default=2_000, show_default=True, help="How many come at once."
)
def main(names: tuple[str, ...], list_only: bool, hostile_connections: int) -> None:  # noqa: FBT001 - click's
    """Try what is asked for."""
    known = {attack.name: attack for attack in attacks(hostile_connections)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.UsageError(f"{unknown[0]}: there is no such attack; --list names them")
    if list_only:
        click.echo("\n".join(known))
        return
    with TemporaryDirectory(prefix="attack-") as folder, open_stage(Path(folder)) as stage:
        outcomes = [(known[name], _tried(known[name], stage)) for name in names or known]
    click.echo("\n".join(table(outcomes)))
    sys.exit(1 if any(outcome.problems for _, outcome in outcomes) else 0)


def _tried(attack: Attack[Stage], stage: Stage) -> Outcome:
    begun_s = time.monotonic()
    try:
        outcome = attack.play(stage)
    except (AssertionError, OSError) as failure:
        why = str(failure).splitlines() or ["nobody knows why"]
        outcome = Outcome("nothing", why[-1], [f"it could not be tried: {why[0]}"])
    took_s = time.monotonic() - begun_s
    click.echo(f"{attack.name} ({attack.attacker}, {took_s:.0f} s): {outcome.verdict}", err=True)
    click.echo(f"  sent: {outcome.sent}\n  came back: {outcome.came_back}", err=True)
    return outcome


if __name__ == "__main__":
    main()
