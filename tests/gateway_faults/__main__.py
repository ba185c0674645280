"""Does the gateway lose or double anything when something is killed, and what does it take to wear it out?

    python -m tests.gateway_faults [--only NAME]... [--records 24000000] [--minutes 5]

A real broker, and `group-coordinator gateway` in a process of its own before it. For the kills also the real job on Spark,
a producer, and five ordinary consumers in three groups, which commit what they have read: what is killed comes back, and
in the end each group must have read every record that the broker confirmed, and none again that stood below a commit
which was confirmed. More than that no kill of a Kafka broker promises either. The same kills come in the middle of
franz-go's chains of groups (Go is needed). `kill-kafka-alone` and `chains-kafka-alone` kill a broker that has the groups
itself: what Kafka does is the measure. `defect` gives the gateway a wrong rule. `brokers` has three brokers, later four, and two gateways, by each of which members of all groups came.

Prints a table, then the same as JSON on one line. The status is 1 if anything was lost, doubled or in any way wrong.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.faults.__main__ import report
from tests.faults.result import Result
from tests.gateway_faults.brokers import brokers_come_and_go
from tests.gateway_faults.chains import chains_at_kafka_alone, chains_killed
from tests.gateway_faults.defect import defect_noticed
from tests.gateway_faults.kills import job_away, killed, killed_at_kafka_alone, store_away
from tests.gateway_faults.relay import relayed
from tests.gateway_faults.stage import Stage, open_stage
from tests.gateway_faults.strain import garbage, many_connections, slow_reader

Inject = Callable[[Path], Result]
"""Takes an empty folder."""


def faults(records: int, minutes: float) -> dict[str, Inject]:
    """All faults by name, in the order in which they are tried."""
    return {
        "kill-gateway": _on_stage(partial(killed, what="gateway")),
        "kill-broker": _on_stage(partial(killed, what="broker")),
        "kill-job": _on_stage(partial(killed, what="job")),
        "job-away": job_away,
        "store-away": store_away,
        "defect": defect_noticed,
        "kill-kafka-alone": killed_at_kafka_alone,
        "chains-kill-gateway": partial(chains_killed, what="gateway"),
        "chains-kill-broker": partial(chains_killed, what="broker"),
        "chains-kill-job": partial(chains_killed, what="job"),
        "chains-kafka-alone": chains_at_kafka_alone,
        "brokers": brokers_come_and_go,
        "connections": _on_stage(many_connections),
        "garbage": _on_stage(garbage),
        "slow-reader": _on_stage(slow_reader),
        "relay": _on_stage(partial(relayed, records=records, minutes=minutes)),
    }


def _on_stage(inject: Callable[[Stage], Result]) -> Inject:
    def injected(folder: Path) -> Result:
        with open_stage(folder) as stage:
            return inject(stage)

    return injected


@click.command(help=__doc__)
@click.option("--only", multiple=True, metavar="NAME", help="Only this fault. Repeatable.")
@click.option("--list", "list_only", is_flag=True, help="Name the faults, and end.")
@click.option("--records", default=24_000_000, show_default=True, help="How many are relayed.")
@click.option("--minutes", default=5.0, show_default=True, help="What they may take.")
def main(only: tuple[str, ...], list_only: bool, records: int, minutes: float) -> None:  # noqa: FBT001
    """Inject what is asked for."""
    known = faults(records, minutes)
    unknown = [name for name in only if name not in known]
    if unknown:
        raise click.UsageError(f"--only {unknown[0]}: there is no such fault; --list names them")
    if list_only:
        click.echo("\n".join(known))
        return
    results = [_injected(known[name]) for name in only or known]
    report(results)
    sys.exit(1 if any(result.problems for result in results) else 0)


def _injected(inject: Inject) -> Result:
    with TemporaryDirectory(prefix="gateway-faults-") as folder:
        begun_s = time.monotonic()
        result = inject(Path(folder))
        result.figures["seconds"] = round(time.monotonic() - begun_s)
        click.echo(f"{result.fault}: {result.verdict} ({result.figures})", err=True)
        return result


if __name__ == "__main__":
    main()
