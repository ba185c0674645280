"""A gateway before a cluster, in a thread of this process, with the state machine in the job's place."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from threading import Event, Thread
from typing import Any, Self

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.local.broker import LOOPBACK, free_row
from tests.peers.assembled import InProcessGroups
from tests.peers.markers import following_of_markers

MAX_IDLE_MS = 600_000
_LOOK_INTERVAL_MS = 300
_LEARN_INTERVAL_S = 0.1
_PORTS = 5  # of newcomers, and of the nodes 0 to 3
"""Of small clusters: their ports must be free behind the bootstrap port."""
_DRAIN_S = 1.0


class InProcessGateway:
    """Serves as long as its `with` block.

    Args:
        bootstrap_servers: one broker, HOST:PORT.
        delay_s: the job's answers take a time from this range.
        settings: of the coordinator, as fields of CoordinatorConfig.
    """

    def __init__(
        self, bootstrap_servers: str, *, delay_s: tuple[float, float], **settings: Any
    ) -> None:
        self._cluster = Connection(bootstrap_servers)
        self._delay_s = delay_s
        self._settings = settings
        self._port = free_row(_PORTS)
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._is_open = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, name="gateway")
        self.refused: list[str] = []
        """Why events of clients were dead letters; it should stay empty."""

    @property
    def bootstrap_servers(self) -> str:
        """What a client needs to find it."""
        return f"{LOOPBACK}:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_open.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread that waits
            self._failure = failure
        finally:
            self._is_open.set()
            self._loop.close()

    async def _serve(self) -> None:
        brokers = [Address(*each) for each in self._cluster.addresses()]
        view = ClusterView(brokers, _LOOK_INTERVAL_MS)
        await view.look_again()
        groups = InProcessGroups(view, delay_s=self._delay_s, **self._settings)
        self.refused = groups.job.refused
        options = GatewayOptions(Address(LOOPBACK, self._port), LOOPBACK, MAX_IDLE_MS)
        gateway = Gateway(options, view, groups.apis)
        with following_of_markers(self._cluster, groups.job, self._loop):
            await gateway.open()
            self._is_open.set()
            await self._until_stopped(
                view.keep_fresh(), gateway.keep_tidy(), groups.job.tick(), _learn(groups)
            )
            await gateway.drain(_DRAIN_S)
        view.close()

    async def _until_stopped(self, *background: Coroutine[Any, Any, None]) -> None:
        tasks = [asyncio.create_task(each) for each in background]
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in (stopping, *tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _learn(groups: InProcessGroups) -> None:
    while True:
        groups.learn_topics()
        await asyncio.sleep(_LEARN_INTERVAL_S)
