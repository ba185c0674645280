from __future__ import annotations

from contextlib import closing

import pytest

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.held_rights import AclsUnreadableError, ClusterAcls
from group_coordinator.local.broker import EmbeddedBroker

pytestmark = pytest.mark.kafka


def test_a_cluster_without_an_authorizer_has_no_rules(broker: EmbeddedBroker) -> None:
    with (
        closing(ClusterAcls(Connection(broker.bootstrap_servers))) as cluster,
        pytest.raises(AclsUnreadableError, match="the cluster has no authorizer"),
    ):
        cluster.read()
