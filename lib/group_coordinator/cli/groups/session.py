"""What the actions of `groups` work with."""

from __future__ import annotations

from functools import cached_property
from types import TracebackType
from typing import Self

from group_coordinator.cli.groups.output import Output
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection


class Session:
    """The coordinator, the brokers, which are connected to when they are first asked, and where results go."""

    def __init__(self, admin: AdminClient, connection: Connection, output: Output) -> None:
        self.admin = admin
        self.output = output
        self._connection = connection

    @cached_property
    def cluster(self) -> Cluster:
        """The brokers.

        Raises:
            BrokerUnreachableError: they do not answer.
        """
        return Cluster(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if "cluster" in self.__dict__:
            self.cluster.close()
        self.admin.close()
