"""One of two brokers has no authorizer, as in the middle of a change: does the gateway take its word for all?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker, free_ports
from tests.attack.after_login import other_group_heartbeat
from tests.attack.outcome import Outcome
from tests.attack.stage import Stage
from tests.end_to_end.secured_broker import STRANGER, secured_broker

_DENIED = 30
_NODE = 2


def word_of_one_broker(stage: Stage) -> Outcome:
    """The gateway asks the open broker first; a user without rights asks about another one's group, by the other broker."""
    with _open_broker(stage) as broker:
        given = {"bootstrap.servers": broker.bootstrap_servers}
        with (
            stage.gateway("divided", given) as gateway,
            gateway.client_of(STRANGER, node=1) as client,
        ):
            code = other_group_heartbeat(client)
    problems = [] if code == _DENIED else ["the job was asked"]
    return Outcome(
        "Heartbeat for another one's group, by the broker with an authorizer",
        f"code {code}",
        problems,
    )


@contextmanager
def _open_broker(stage: Stage) -> Iterator[EmbeddedBroker]:
    [port] = free_ports(1)
    listeners = f"CLIENTS://{LOOPBACK}:{port}"
    properties = {
        "process.roles": "broker",
        "node.id": str(_NODE),
        "controller.quorum.voters": stage.controller,
        "listeners": listeners,
        "advertised.listeners": listeners,
        "authorizer.class.name": "",
    }
    with secured_broker(stage.certificates, port, **properties) as broker:
        yield broker
