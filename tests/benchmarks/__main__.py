"""How fast is the job, beside what Spark itself needs?

    python -m tests.benchmarks [--only NAME]... [--list]

Runs one benchmark after the other, each in a process of its own, and prints one table: what was measured, ours, the floor
beside it in the same run, their ratio, and what the project promises. Ratios can be compared between machines, absolute
figures cannot. Nothing else should run on the machine meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click
from rich.console import Console
from rich.table import Column, Table

from tests.benchmarks.gateway_loads import LOADS
from tests.benchmarks.upkeep import WAYS

_say = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table; what is compared with nothing has no floor."""

    what: str
    ours: str
    promise: str
    floor: str = ""
    ratio: str = ""


Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A module of this folder, and how the JSON on its last line becomes rows."""

    arguments: Sequence[str]
    measures: Callable[[Figures], list[Measure]]


def _throughput(figures: Figures) -> list[Measure]:
    promises = {
        (10_000, "stock"): 1.25,
        (10_000, "lean"): 0.8,
        (100, "stock"): 1.6,
        (100, "lean"): 1.6,
    }
    return [
        Measure(
            f"{shape['groups']:,} groups x {shape['events_per_group']:,} events, exchange {way}",
            f"{shape['events_per_second'][way]:,} events/s",
            f"at most {promises[shape['groups'], way]} x the time",
            f"{shape['events_per_second']['identity']:,} events/s",
            f"{shape['time_ratio'][way]} x",
        )
        for shape in figures["shapes"]
        for way in ("stock", "lean")
    ]


def _end_to_end(figures: Figures) -> list[Measure]:
    floors = {
        "operator": "the operator alone",
        "stock": "Spark's own, no Python, no state",
        "documented": "the same, written in Spark's way",
    }
    return [
        Measure(
            f"from topic to responses and log: {shape['groups']:,} groups x {shape['events_per_group']:,} events",
            f"{shape['job_events_per_second']:,} events/s",
            "",
            f"{shape[f'{floor}_events_per_second']:,} events/s, {name}",
            f"{shape[f'times_{floor}']} x",
        )
        for shape in figures["shapes"]
        for floor, name in floors.items()
    ]


def _core_alone(figures: Figures) -> list[Measure]:
    promises = {"offset_commits": 150_000, "heartbeats": 200_000, "join_sync_cycles": 20_000}
    return [
        Measure(
            f"core alone, one thread: {name.replace('_', ' ')}",
            f"{figures[name]:,}/s",
            f"at least {promise:,}/s",
        )
        for name, promise in promises.items()
    ]


def _assignors(figures: Figures) -> list[Measure]:
    promises = {
        "uniform_homogeneous_one_joins_ms": "at most 20 ms",
        "range_homogeneous_one_joins_ms": "at most 60 ms",
    }
    return [
        Measure(
            f"a new target assignment: {name.removesuffix('_ms').replace('_', ' ')}",
            f"{spent_ms} ms",
            promises.get(name, ""),
        )
        for name, spent_ms in figures.items()
    ]


def _decoder(figures: Figures) -> list[Measure]:
    return [
        Measure(f"decoder alone, one thread: {name.replace('_', ' ')}", f"{rate:,}/s", "")
        for name, rate in figures.items()
    ]


def _wire(figures: Figures) -> list[Measure]:
    last = "_kafka_python_encode"
    requests = [name.removesuffix(last) for name in figures if name.endswith(last)]
    return [
        Measure(
            f"wire codec alone, one thread: {way} of a {request.replace('_', ' ')}",
            f"{figures[f'{request}_{way}']:,}/s",
            "",
            f"{figures[f'{request}_kafka_python_{way}']:,}/s, kafka-python",
        )
        for request in requests
        for way in ("decode", "encode")
    ]


def _gateway(figures: Figures) -> list[Measure]:
    promises = {"fetch_1_mib": "at least 500 MB", "produce_1_kib_one_by_one": "at least 15,000"}
    return [
        Measure(
            f"the gateway in a second of CPU: {load.replace('_', ' ')}",
            f"{figures[f'{load}_per_cpu_second']:,} exchanges, {figures[f'{load}_mb_per_cpu_second']:,} MB",
            promises.get(load, ""),
            f"{figures[f'{load}_mb_per_second_direct']:,} MB/s, both ends alone",
        )
        for load in LOADS
    ]


def _gateway_answers(figures: Figures) -> list[Measure]:
    rate = f"{figures['requests_per_second']} requests/s"
    members = f"{figures['idle_members']:,} idle members"
    return [
        Measure(
            f"the gateway adds to {share} of answers, {rate}",
            f"{figures[f'added_{name}_ms']} ms",
            promise,
            f"{figures[f'without_gateway_{name}_ms']} ms without it",
        )
        for share, name, promise in (("the median", "median", "at most 30 ms"), ("99 %", "p99", ""))
    ] + [
        Measure(
            f"{members}: answers that were late or errors",
            f"{figures['idle_late'] + figures['idle_failed']}",
            "none",
        ),
        Measure(
            f"{members}: the gateway's part of a core, and its memory",
            f"{figures['idle_gateway_cores']} cores, {figures['idle_gateway_mb']} MB",
            "",
        ),
    ]


def _mirror(figures: Figures) -> list[Measure]:
    return [
        Measure(
            f"the first load of a mirror, {figures['records']:,} messages",
            f"{figures['mirror_records_per_second']:,}/s",
            "at least 150,000/s",
            f"{figures['identity_records_per_second']:,}/s, raw bytes",
            f"{figures['time_ratio']} x",
        ),
        Measure(
            "the mirror's decoder alone, one thread",
            f"{figures['decoder_alone_records_per_second']:,}/s",
            "",
        ),
    ]


def _mirror_live(figures: Figures) -> list[Measure]:
    rates = [name.rpartition("_")[2] for name in figures if name.startswith("median_s_behind_at_")]
    return [
        Measure(
            f"a mirror at {figures[f'sent_a_second_at_{rate}']:,} commits/s, compaction running",
            f"{figures[f'median_s_behind_at_{rate}']} s behind, at most {figures[f'most_s_behind_at_{rate}']} s",
            "",
        )
        for rate in rates
    ]


def _latency(figures: Figures) -> list[Measure]:
    rate = f"{figures['events_per_second']} events/s, compaction running"
    return [
        Measure(
            f"median response, {rate}",
            f"{figures['median_s']} s",
            "at most 1.3 x the time, and 1.5 s",
            f"{figures['floor_median_s']} s",
            f"{figures['median_ratio']} x",
        ),
        Measure(f"99 % of responses, {rate}", f"{figures['p99_s']} s", "at most 3 s"),
        _memory(rate, figures, 3),
    ]


def _memory(when: str, figures: Figures, most_gigabytes: int) -> Measure:
    used = f"{figures['memory_bytes'] / 1e9:.2f} GB"
    return Measure(f"memory, driver and workers, {when}", used, f"below {most_gigabytes} GB")


def _idle_groups(figures: Figures) -> list[Measure]:
    return [
        Measure(
            "batch time, 10,000 -> 300,000 idle groups",
            f"{figures['microseconds_an_idle_group']} microseconds a group",
            "at most 2",
        ),
        _memory("300,000 groups", figures, 4),
    ]


def _big_group(figures: Figures) -> list[Measure]:
    return [
        Measure(
            "a commit in a group of 10,000 offsets", f"{figures['commit_ms']} ms", "at most 10 ms"
        ),
        Measure("state", f"{figures['bytes_an_offset']} bytes an offset", "at most 64"),
    ]


def _growth(figures: Figures) -> list[Measure]:
    ways = {
        "warm": ("an event in a group that its worker knows", "at most 10 ms"),
        "cold": ("an event in a group that its worker must read", ""),
        "further": ("each further event of a batch", "at most 1 ms"),
    }
    return [
        Measure(f"{what}: {figures[f'{way}_what']}", f"{figures[f'{way}_ms']} ms", promise)
        for way, (what, promise) in ways.items()
    ]


def _compaction(figures: Figures) -> list[Measure]:
    half = "10000_changes_s_{}_half"
    first, second = (figures[half.format(which)] for which in ("first", "second"))
    return [
        Measure(
            "compaction: 10,000 changed offsets into 1,000,000, as the log grows",
            f"{second} s",
            "flat",
            f"{first} s, before it grew",
            f"{second / first:.2f} x",
        ),
    ]


def _upkeep(figures: Figures) -> list[Measure]:
    ours, floor = (figures[f"{way} {figures['appends']} append_ms"] for way in WAYS)
    return [
        Measure(
            f"an append to the log's table after {figures['appends']:,}",
            f"{ours} ms",
            "at most 100 ms",
            f"{floor} ms, without upkeep",
            f"{ours / floor:.2f} x",
        )
    ]


def _rebuild(figures: Figures) -> list[Measure]:
    return [
        Measure(
            f"rebuild with a snapshot, of {figures['rows']:,} records",
            f"{figures['from_the_snapshot_s']} s",
            "does not grow with the history",
            f"{figures['whole_log_s']} s, the whole log",
            f"{figures['from_the_snapshot_s'] / figures['whole_log_s']:.2f} x",
        )
    ]


def _idle_job(figures: Figures) -> list[Measure]:
    return [
        Measure("a job without anything to do", f"{figures['cores']} cores", "at most 0.05"),
        Measure("an answer after the rest", f"{figures['answer_after_the_rest_s']} s", ""),
    ]


def _cores(figures: Figures) -> list[Measure]:
    return [
        Measure(
            "two cores for one",
            f"{figures['two_cores_s']} s a batch",
            "at least 1.7 x as fast",
            f"{figures['one_core_s']} s a batch",
            f"{figures['times_as_fast']} x",
        )
    ]


def _topic_subscriptions(figures: Figures) -> list[Measure]:
    few, many = figures["subscriptions"]
    return [
        Measure(
            f"a batch in which one group says what topics it needs, beside {many['groups']:,}",
            f"{many['need_ms']} ms",
            "at most 2 x the time",
            f"{few['need_ms']} ms beside {few['groups']:,}",
            f"{many['need_ms'] / few['need_ms']:.2f} x",
        )
    ]


def _topic_looks(figures: Figures) -> list[Measure]:
    of = f"{figures['topics']} topics with {figures['partitions']:,} partitions"
    return [
        Measure(f"looks at {of}", f"{figures['share_of_a_core']:.1%} of a core", "at most 10 %"),
        Measure(f"a new topic is told, {of}", f"{figures['new_topic_told_s']} s", ""),
    ]


BENCHMARKS = {
    "core_alone": Benchmark([], _core_alone),
    "assignors": Benchmark([], _assignors),
    "decoder": Benchmark([], _decoder),
    "wire": Benchmark([], _wire),
    "mirror": Benchmark([], _mirror),
    "mirror_live": Benchmark([], _mirror_live),
    "gateway": Benchmark([], _gateway),
    "gateway_answers": Benchmark([], _gateway_answers),
    "big_group": Benchmark([], _big_group),
    "growth": Benchmark([], _growth),
    "throughput": Benchmark([], _throughput),
    "end_to_end": Benchmark([], _end_to_end),
    "cores": Benchmark([], _cores),
    "latency": Benchmark(["--floor"], _latency),
    "idle_groups": Benchmark([], _idle_groups),
    "idle_job": Benchmark([], _idle_job),
    "rebuild": Benchmark([], _rebuild),
    "compaction": Benchmark([], _compaction),
    "topic_subscriptions": Benchmark([], _topic_subscriptions),
    "topic_looks": Benchmark([], _topic_looks),
    "upkeep": Benchmark([], _upkeep),
}


@click.command(help=__doc__)
@click.option("--only", multiple=True, metavar="NAME", help="Only this benchmark. Repeatable.")
@click.option("--list", "list_only", is_flag=True, help="Name the benchmarks, and end.")
def main(only: tuple[str, ...], list_only: bool) -> None:  # noqa: FBT001
    """Run what is asked for."""
    unknown = [name for name in only if name not in BENCHMARKS]
    if unknown:
        raise click.UsageError(
            f"--only {unknown[0]}: there is no such benchmark; --list names them"
        )
    if list_only:
        click.echo("\n".join(BENCHMARKS))
        return
    measures = [measure for name in only or BENCHMARKS for measure in _measured(name)]
    table = Table(
        "what", *(Column(name, justify="right") for name in ("ours", "floor", "ratio")), "promise"
    )
    for measure in measures:
        table.add_row(measure.what, measure.ours, measure.floor, measure.ratio, measure.promise)
    Console().print(table)
    click.echo(json.dumps([asdict(measure) for measure in measures]))


def _measured(name: str) -> list[Measure]:
    _say.print(f"{name} ...")
    benchmark = BENCHMARKS[name]
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", *benchmark.arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - a fixed program
    return benchmark.measures(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
