"""The APIs that are served.

What a body says follows the rules of Kafka's message definitions: what is left out has the version's default, and a
field that a version does not know is passed over where Kafka calls it ignorable; else it must have its default.
"""

from __future__ import annotations

from typing import Any

from group_coordinator.codecs.apis import (
    alter_configs,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_configs,
    describe_groups,
    end_txn,
    heartbeat,
    join_group,
    leave_group,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
    tick,
    topic_metadata,
    txn_offset_commit,
)
from group_coordinator.codecs.apis.api import Api

_SERVED: tuple[Api[Any], ...] = (
    offset_commit.API,
    txn_offset_commit.API,
    end_txn.API,
    heartbeat.API,
    offset_fetch.API,
    join_group.API,
    sync_group.API,
    leave_group.API,
    offset_delete.API,
    delete_groups.API,
    describe_groups.API,
    consumer_group_heartbeat.API,
    consumer_group_describe.API,
    describe_configs.API,
    alter_configs.API,
    topic_metadata.API,
    tick.API,
)

APIS = {api.name: api for api in _SERVED}
