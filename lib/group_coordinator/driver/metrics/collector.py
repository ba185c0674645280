"""Metrics of a run, their port, and the threads that measure independently of batches.

The port is open from the run's first moment; metrics are added later.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from ssl import SSLContext
from threading import Event
from typing import NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import InfoMetricFamily
from prometheus_client.metrics_core import Metric
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from group_coordinator import __version__
from group_coordinator.background import MOST_OF_THE_TIME, repeat, running_beside
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.errors import ChannelError
from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.metrics.meters import Batches, Counts
from group_coordinator.driver.metrics.table_gauges import TableGauges, table_asker
from group_coordinator.driver.metrics.view_gauges import ViewGauges
from group_coordinator.driver.session import Figures, figure
from group_coordinator.driver.tasks.acls import AclTask
from group_coordinator.gateway.cluster.addresses import listen_address
from group_coordinator.gateway.cluster.broker_access import listener_context
from group_coordinator.gateway.connections.tcp_connection import CertificateRenewal
from group_coordinator.observability.http_server import Tls, Trouble, metrics_port
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.plans import Plans, offsets_read
from group_coordinator.streaming.meter_totals import MeterTotals, counted_in_tables
from group_coordinator.streaming.session import in_pool
from group_coordinator.streaming.small_batch import BatchCounts, BatchMeters

_SETTING = "metrics.listen"


class Endpoint:
    """Content of the port; `watch` returns the reason why the job does not work, None: the job starts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.texts: list[Callable[[], bytes]] = []
        """Texts of further metrics, made when their figures were read: making them would delay a scrape."""
        self.watch: Trouble | None = None

    def text(self) -> bytes:
        return b"".join([generate_latest(self.registry), *(text() for text in self.texts)])

    def trouble(self) -> str | None:
        return "the job starts" if self.watch is None else self.watch()


@contextmanager
def metrics_endpoint(job: JobSettings) -> Iterator[Endpoint | None]:
    """Serve metrics at metrics.listen while the block runs; None: the setting is empty.

    Raises:
        StartUpError: the port is taken, the address is not this machine's, or the password file cannot be used.
        GatewayStartError: the setting is no address, or the certificate cannot be used.
    """
    if not job.metrics_listen:
        yield None
        return
    endpoint = Endpoint(CollectorRegistry())
    labels = {"version": __version__, "cluster_id": job.cluster_id}
    info = InfoMetricFamily("group_coordinator", "Version and cluster of the job", labels)
    endpoint.registry.register(Figures(lambda: (info,)))
    # A registry of its own has no collectors, unlike prometheus_client's global registry.
    ProcessCollector(registry=endpoint.registry)
    address = listen_address(_SETTING, job.metrics_listen)
    login, tls = _login_of(job.metrics_password_file), _tls_of(job.metrics_ssl_keystore_location)
    with ExitStack() as opened:
        try:
            opened.enter_context(
                metrics_port(address, endpoint.text, endpoint.trouble, login=login, tls=tls)
            )
        except OSError as error:
            raise StartUpError(f"{_SETTING} = {job.metrics_listen}: {error}") from error
        yield endpoint


_POLL_MS = 200
_POLLS = 10


class UnhandledEvents(NamedTuple):
    """Unhandled events; `oldest_ms` is the timestamp of the first, None: there are none."""

    events: int
    oldest_ms: int | None


class Unread(LastingClient[KafkaConsumer]):
    """Client that measures the lag over lasting connections; `read_to` returns the offset behind the handled events."""

    def __init__(
        self, connection: Connection, topic: str, read_to: Callable[[], Mapping[int, int]]
    ) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            # One event of each partition is enough.
            fetch_max_bytes=1,
            max_partition_fetch_bytes=1,
        )
        self._topic = topic
        self._read_to = read_to
        self._found: UnhandledEvents | None = None

    def look(self) -> None:
        """Measure now. Without a response the lag is unknown; a monitor reports the outage."""
        try:
            self._found = self._asked(self.opened(), self._read_to())
        except (ChannelError, KafkaError):
            self._found = None
            # A connection may be useless after a failure; the next look opens a new one.
            self.close()

    def families(self) -> Iterator[Metric]:
        """Yield the last measured gauges; none if the lag is unknown."""
        if self._found is not None:
            yield from behind_families(self._found)

    def _asked(self, consumer: KafkaConsumer, read_to: Mapping[int, int]) -> UnhandledEvents:
        numbers = consumer.partitions_for_topic(self._topic) or ()
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        begins = consumer.beginning_offsets(partitions)
        behind: dict[TopicPartition, int] = {}
        events = 0
        for partition, end in consumer.end_offsets(partitions).items():
            # Retention may have removed events that were never read.
            first = max(read_to.get(partition.partition, 0), begins[partition])
            if first < end:
                behind[partition] = first
                events += end - first
        return UnhandledEvents(events, _oldest_ms(consumer, behind))


def behind_families(backlog: UnhandledEvents) -> Iterator[Metric]:
    behind_s = 0.0
    if backlog.oldest_ms is not None:
        behind_s = max(0.0, time.time_ns() / 1e9 - backlog.oldest_ms / 1e3)
    for name, meaning, number in (
        ("events", "Events that are not handled yet", backlog.events),
        ("seconds", "The age of the oldest event that is not handled yet", behind_s),
    ):
        yield figure(f"group_coordinator_behind_{name}", meaning, number)


def _oldest_ms(consumer: KafkaConsumer, behind: Mapping[TopicPartition, int]) -> int | None:
    # Only events that arrive in time count: a slow broker must not delay the look.
    missing, times_ms = dict(behind), []
    for _ in range(_POLLS):
        if not missing:
            break
        consumer.assign([*missing])
        for partition, offset in missing.items():
            consumer.seek(partition, offset)
        for partition, records in consumer.poll(_POLL_MS, max_records=len(missing)).items():
            times_ms += [record.timestamp for record in records[:1]]
            missing.pop(partition, None)
    return min(times_ms, default=None)


_LOOK_S = 5.0
# After a kill, the next start counts the rows of so many seconds in the tables.
_KEEP_S = 10.0
_log = logging.getLogger(__name__)


class Measuring:
    """Receiver of batches in the thread that runs them, without any request."""

    def __init__(
        self, endpoint: Endpoint, job: JobSettings, folder: CheckpointFolder, totals: MeterTotals
    ) -> None:
        self._topic = job.events_topic
        self._read_before = offsets_read(folder, self._topic)
        self.batches = Batches(endpoint.registry, job.idle_interval_ms / 1000)
        self.counts = Counts(totals)
        endpoint.watch = self.batches.trouble
        endpoint.registry.register(Figures(self.counts.families))

    def begin(self, batch_id: int, plans: Plans) -> None:
        events = sum(len(offsets) for _, offsets in plans.ranges_of(batch_id))
        self.batches.begin(plans.of(batch_id), events)

    def end(self, counts: BatchCounts) -> None:
        self.batches.end(counts, self._topic)

    def meters(self, batch_id: int, meters: BatchMeters) -> None:
        self.counts.add(batch_id, meters)

    def read_to(self) -> dict[int, int]:
        """Return by partition the offset behind the handled events."""
        read = self.batches.read_to
        return self._read_before if read is None else read


@contextmanager
def measuring(
    endpoint: Endpoint | None,
    spark: SparkSession,
    connection: Connection,
    *,
    job: JobSettings,
    acls: AclTask | None,
    stop: Event,
) -> Iterator[Measuring | None]:
    """Measure while the block runs, and keep the totals at its end; None: there is no endpoint."""
    if endpoint is None:
        yield None
        return
    folder = coordinator_folder(spark, job)
    totals = MeterTotals(folder, partial(_counted, spark, job))
    measured = Measuring(endpoint, job, folder, totals)
    if acls is not None:
        endpoint.registry.register(Figures(acls.families))
    # A connection of its own: a slow broker must not delay the other metrics.
    with closing(Unread(connection, job.events_topic, measured.read_to)) as unread:
        endpoint.registry.register(Figures(unread.families))
        with (
            tables_read(endpoint, spark, job, totals.rebalancing, stop),
            _looking("metrics-totals", _KEEP_S, partial(_keep, totals), stop),
            _looking("metrics-unread", _LOOK_S, unread.look, stop),
        ):
            yield measured
        # A complete end saves the next start the counting in the tables.
        _keep_at_last(totals)


@contextmanager
def tables_read(
    endpoint: Endpoint,
    spark: SparkSession,
    job: JobSettings,
    rebalancing: Callable[[], Mapping[str, str]],
    stop: Event,
) -> Iterator[None]:
    """Show gauges of groups, lag and views from the tables while the block runs."""
    granularity, interval_s = job.metrics_lag_granularity, job.metrics_interval_ms / 1000
    tables = TableGauges(table_asker(spark, job), granularity, rebalancing)
    # Spark's session of one thread cannot be that of another.
    views = ViewGauges(table_asker(spark, job), granularity)
    for gauges in (tables, views):
        endpoint.registry.register(Figures(gauges.families))
        endpoint.texts.append(gauges.text)
    read_views = partial(views.read_repeatedly, interval_s)
    with (
        _looking("metrics-tables", interval_s, tables.read, stop),
        running_beside(read_views, stop, "metrics-views"),
    ):
        yield


def _looking(
    name: str, interval_s: float, look: Callable[[], None], stop: Event
) -> AbstractContextManager[None]:
    return running_beside(partial(repeat_quietly, look, interval_s), stop, name)


def repeat_quietly(look: Callable[[], None], interval_s: float, ended: Event) -> None:
    """Look at once, and repeatedly; less often if a look takes long. Equal failures in a row are logged once."""
    reported = ""

    def failed(failure: Exception, count: int) -> None:
        nonlocal reported
        if count == 1 or reported != str(failure):
            _log.warning("the metrics are not complete: %s", failure)
        reported = str(failure)

    repeat(look, ended, interval_s, first_s=0, share=MOST_OF_THE_TIME, failed=failed)


def _keep(totals: MeterTotals) -> None:
    totals.make_up()
    totals.keep()


def _keep_at_last(totals: MeterTotals) -> None:
    try:
        _keep(totals)
    except (OSError, PySparkException, Py4JError) as failure:
        _log.warning(
            "the last changes of the meters were not stored, and the next run counts them again: %s",
            failure,
        )


def _counted(spark: SparkSession, job: JobSettings, after: int, before: int) -> dict[str, int]:
    with in_pool(spark, "metrics"):
        return dict(counted_in_tables(spark, job, after, before))


_PASSWORD_FILE = "metrics.password.file"  # noqa: S105 - the name of a setting
_KEY_STORE = "metrics.ssl.keystore.location"


def _login_of(file: str) -> str | None:
    """Return USER:PASSWORD, the only line of the file; None: the setting is empty.

    Raises StartUpError: the file cannot be read, or has another text. The message does not have the text.
    """
    if not file:
        return None
    remedy = "give a text file with one line, USER:PASSWORD"
    try:
        login = Path(file).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise StartUpError(f"{_PASSWORD_FILE} = {file}: {error.strerror}: {remedy}") from error
    except UnicodeDecodeError:
        # The error has the bytes of the file.
        raise StartUpError(f"{_PASSWORD_FILE} = {file} is not UTF-8: {remedy}") from None
    user, _, password = login.partition(":")
    if not user or not password or len(login.splitlines()) > 1:
        raise StartUpError(f"{_PASSWORD_FILE} = {file} has another text: {remedy}")
    return login


def _tls_of(key_store: str) -> Tls | None:
    """Return the TLS of connections, with a renewed certificate as soon as its file changes; None: the setting is empty.

    Raises GatewayStartError: the file cannot be used.
    """
    context = listener_context(key_store, "", _KEY_STORE)
    if context is None:
        return None
    renewal = CertificateRenewal(context, key_store, "", _KEY_STORE)

    def renewed() -> SSLContext:
        renewal.look()
        return context

    return renewed
