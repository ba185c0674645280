"""Does one user starve the others of the gateway's way to the job?"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, suppress
from threading import Thread

from group_coordinator.codecs import wire
from tests.attack.after_login import other_group_heartbeat
from tests.attack.client import Client
from tests.attack.outcome import Outcome
from tests.attack.stage import ORDERS, OWN_GROUP, Stage
from tests.end_to_end.secured_broker import CLIENT, LIMITED

_CONNECTIONS = 8
_PARTITIONS, _METADATA_BYTES = 20, 30_000
"""Of each commit: longer than offset.metadata.max.bytes, so that the job keeps nothing of it."""
_EACH = 60
_FLOOD_S = 15.0
_LONGEST_WAIT_S = 5.0
"""Of a client whose request comes behind a fair share of the other one's."""
_UNKNOWN_MEMBER, _NO_COORDINATOR = 25, 15


class Waits:
    """How the heartbeats of another user fare."""

    def __init__(self) -> None:
        self.codes: Counter[int] = Counter()
        self.longest_s = 0.0

    def measure(self, client: Client, seconds: float) -> None:
        """Send one after the other; one without a response is the last one."""
        end_s = time.monotonic() + seconds
        while (begun_s := time.monotonic()) < end_s:
            with suppress(OSError):
                self.codes[other_group_heartbeat(client)] += 1
                self.longest_s = max(self.longest_s, time.monotonic() - begun_s)
                continue
            self.longest_s = time.monotonic() - begun_s
            return

    def problems(self) -> list[str]:
        """Return what another user must not notice."""
        found = []
        if self.codes[_NO_COORDINATOR]:
            found.append(f"{self.codes[_NO_COORDINATOR]} of {self.codes.total()} are refused")
        if self.longest_s > _LONGEST_WAIT_S:
            found.append(f"one took {self.longest_s:.1f} s, at most {_LONGEST_WAIT_S:.0f} may be")
        return found


def flood_of_one_user(stage: Stage) -> Outcome:
    """Commits of nearly a megabyte, many at once on each connection, while another user sends heartbeats."""
    waits = Waits()
    with stage.gateway("flood") as gateway, ExitStack() as held:
        other = held.enter_context(gateway.client_of(CLIENT))
        assert other_group_heartbeat(other) == _UNKNOWN_MEMBER
        flooding = [held.enter_context(gateway.client_of(LIMITED)) for _ in range(_CONNECTIONS)]
        threads = [Thread(target=_flood, args=[client]) for client in flooding]
        for thread in threads:
            thread.start()
        waits.measure(other, _FLOOD_S)
        for client in flooding:
            client.abort()
        for thread in threads:
            thread.join()
    sent = (
        f"OffsetCommits of {_PARTITIONS * _METADATA_BYTES} bytes for {_FLOOD_S:.0f} s, {_EACH} at once on "
        f"{_CONNECTIONS} connections"
    )
    came = f"heartbeats of another user by code: {dict(waits.codes)}, the longest took {waits.longest_s:.1f} s"
    return Outcome(sent, came, waits.problems())


def _flood(client: Client) -> None:
    partitions = [
        {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": "m" * _METADATA_BYTES}
    ] * _PARTITIONS
    body = {"groupId": OWN_GROUP, "topics": [{"name": ORDERS, "partitions": partitions}]}
    frame = wire.request(
        "OffsetCommit", 8, 7, "flood", {"generationIdOrMemberEpoch": -1, "memberId": "", **body}
    )
    with suppress(OSError):
        while True:
            if not all(client.send(frame) for _ in range(_EACH)):
                return
            for _ in range(_EACH):
                client.response("OffsetCommit", 8)
