"""Sends hostile events between good ones through the real job, and looks what became of every single one.

    python -m tests.hostile [--events 100000] [--flood 0] [--groups 0] [--seed 1]

Broker, job and tables are real. The job must never stop; every bad event must be a dead letter with its coordinates, a
reason and its bytes, exactly once, or be answered if it was a fair question; every good event must be answered rightly.
`--flood` puts so many events of one megabyte, for one group or without a key, in front: the first batch finds them all.
`--groups` adds commits to so many groups, one to each. The same seed sends the same events.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from group_coordinator import settings
from group_coordinator.local.broker import EmbeddedBroker
from tests.benchmarks.latency import Memory
from tests.hostile.events import flood, hostile_events, stranger
from tests.hostile.sent import Sent
from tests.hostile.stage import Responses, Writer, letters, measured
from tests.hostile.verdict import Expected, counted, faults
from tests.support.job_process import JobProcess


def acts(arguments: argparse.Namespace) -> dict[str, Iterable[Sent]]:
    """What is sent while the job runs, one after the other."""
    return {
        "hostile events": hostile_events(arguments.seed, arguments.events),
        "distinct groups": map(stranger, range(arguments.groups)),
        "and afterwards": hostile_events(arguments.seed + 1, 1_000),
    }


def play(arguments: argparse.Namespace, folder: Path) -> tuple[list[str], list[Expected]]:
    """One run: what went wrong, and what was sent."""
    with EmbeddedBroker() as broker:
        options = ["--bootstrap-server", broker.bootstrap_servers]
        with JobProcess(["init", *options], folder) as init:
            assert init.wait(300) == 0, init.log
        writer = Writer(broker.bootstrap_servers, settings.load().coordinator.event_max_bytes)
        writer.send(map(flood, range(arguments.flood)))
        responses = Responses(broker.bootstrap_servers)
        with JobProcess(["run", *options], folder) as job:
            memory = Memory(job.pid)
            for name, events in acts(arguments).items():
                writer.send(events)
                wanted = writer.send_last()
                responses.correlation_ids.clear()
                work = partial(responses.await_all, wanted, job)
                seconds, most_bytes = measured(work, memory)
                note = f"{name}: {seconds:.0f} s, memory so far {most_bytes / 2**20:,.0f} MiB"
                print(note, flush=True)
            assert job.stop() == 0, job.log
            responses.read_rest()
            memory.close()
        writer.close()
        responses.close()
    found = letters(folder / settings.load().job.tables_root)
    return faults(writer.events, responses.bodies, found), list(writer.events.values())


def main() -> int:
    """Print what was sent and what went wrong; 1 if anything did."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--events", type=int, default=100_000, help="every other one is good")
    parser.add_argument("--flood", type=int, default=0, help="events of one megabyte")
    parser.add_argument("--groups", type=int, default=0, help="distinct groups")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        wrong, events = play(arguments, Path(folder))
    table = Table(title=f"{len(events):,} events, {len(wrong)} with a wrong outcome")
    for column in ("events", "kind", "what each of them must come to"):
        table.add_column(column, justify="right" if column == "events" else "left")
    for (kind, fate), number in sorted(counted(events).items()):
        table.add_row(f"{number:,}", kind, fate)
    Console().print(table)
    for fault in wrong[:20]:
        print(fault)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
