"""What tables and checkpoint on an object store cost: how long answers take, and what a batch asks of the store.

    python -m tests.benchmarks.stores [--store STORE]... [--rate 200] [--seconds 60] [--delay-ms 20] [--requests]

The runs of `latency`, one after the other: everything on a disk, the checkpoint on a disk and the tables on S3, both on S3. Each request
to the store takes as long as is said more, as to a store in its region. Requests are those of the last thirty batches, by the
store's own log; those of compaction, and of the upkeep that fell into that time, are among them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from tests.benchmarks.latency import measure
from tests.benchmarks.measured import show
from tests.support.object_store import Request
from tests.support.stores import S3, STORES, TablesOnS3

STORES_MEASURED = ("disk", "two-places", "s3")
COUNTED_BATCHES = 30
_END_OF_BATCH = re.compile(r".*/coordinator_log/_delta_log/\d{20}\.json")
"""Each batch commits to the log once, wherever its checkpoint is."""
_NUMBERS = (
    (re.compile(r"part-[^/]*\.parquet"), "part-*.parquet"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}"), "*"),
    (re.compile(r"\d+"), "N"),
)


def on(
    store: str, rate: int, seconds: int, delay_ms: float
) -> tuple[dict[str, float], list[Request]]:
    """One run, and what its counted batches asked of the store."""
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        (folder / "store").mkdir()
        with STORES[store](folder / "store") as opened:
            if isinstance(opened, S3 | TablesOnS3):
                opened.store.proxy.delay(delay_ms / 1000)
            figures = measure(rate, seconds, folder, overrides=opened.settings(folder))
            if not isinstance(opened, S3 | TablesOnS3):
                return figures, []
            requests = of_last_batches(opened.store.requests())
    return {**figures, "requests_a_batch": round(len(requests) / COUNTED_BATCHES, 1)}, requests


def of_last_batches(requests: Sequence[Request]) -> list[Request]:
    """From one end of a batch to another; the very last one is left out, as the job is stopped in it."""
    ends = [
        at
        for at, request in enumerate(requests)
        if request.operation == "PutObject" and _END_OF_BATCH.fullmatch(request.key)
    ]
    return list(requests[ends[-COUNTED_BATCHES - 2] : ends[-2]])


def kind(request: Request) -> tuple[str, str, int]:
    """Requests of one kind are alike but for numbers."""
    key = request.key.partition("/")[2] or request.key
    for pattern, sign in _NUMBERS:
        key = pattern.sub(sign, key)
    return request.operation, key, request.status


def show_requests(store: str, requests: Sequence[Request]) -> None:
    """A table of the kinds, the most frequent first."""
    table = Table("request", "object", "status", "a batch", title=store)
    for (operation, key, status), count in Counter(map(kind, requests)).most_common():
        table.add_row(operation, key, str(status), f"{count / COUNTED_BATCHES:.2f}")
    Console(width=120).print(table)


def main() -> None:
    """Print the tables and the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--store", action="append", choices=STORES_MEASURED)
    parser.add_argument("--rate", type=int, default=200, help="commits per second")
    parser.add_argument("--seconds", type=int, default=60, help="how long, after the warm-up")
    parser.add_argument("--delay-ms", type=float, default=20, help="of each request")
    parser.add_argument("--requests", action="store_true", help="show each kind of request")
    chosen = parser.parse_args()
    result = {}
    for store in chosen.store or STORES_MEASURED:
        figures, requests = on(store, chosen.rate, chosen.seconds, chosen.delay_ms)
        if chosen.requests:
            show_requests(store, requests)
        result |= {f"{store}: {name}": value for name, value in figures.items()}
    show(f"Tables and checkpoint {chosen.delay_ms:g} ms away", result)


if __name__ == "__main__":
    main()
