"""Does one user starve the others of the gateway's way to the job?"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, suppress
from threading import Event, Thread

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


def flood_of_one_user(stage: Stage) -> Outcome:
    """Commits of nearly a megabyte, many at once on each connection, while another user sends heartbeats."""
    ended, codes, waits_s = Event(), Counter[int](), []
    with stage.gateway("flood") as gateway, ExitStack() as held:
        other = held.enter_context(gateway.client_of(CLIENT))
        assert other_group_heartbeat(other) == _UNKNOWN_MEMBER
        flooding = [held.enter_context(gateway.client_of(LIMITED)) for _ in range(_CONNECTIONS)]
        threads = [Thread(target=_flood, args=[client, ended]) for client in flooding]
        for thread in threads:
            thread.start()
        end_s = time.monotonic() + _FLOOD_S
        while time.monotonic() < end_s:
            begun_s = time.monotonic()
            codes[other_group_heartbeat(other)] += 1
            waits_s.append(time.monotonic() - begun_s)
        ended.set()
        for client in flooding:
            client.abort()
        for thread in threads:
            thread.join()
    starved = codes[_NO_COORDINATOR]
    problems = (
        [f"{starved} of {codes.total()} heartbeats of another user refused"] if starved else []
    )
    if max(waits_s) > _LONGEST_WAIT_S:
        problems.append(
            f"a heartbeat of another user took {max(waits_s):.1f} s, at most {_LONGEST_WAIT_S} may be"
        )
    came = (
        f"heartbeats of another user by code: {dict(codes)}, the longest took {max(waits_s):.1f} s"
    )
    sent = f"OffsetCommits of {_PARTITIONS * _METADATA_BYTES} bytes for {_FLOOD_S:.0f} s, {_EACH} at once on {_CONNECTIONS} connections"
    return Outcome(sent, came, problems)


def _flood(client: Client, ended: Event) -> None:
    partitions = [
        {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": "m" * _METADATA_BYTES}
    ] * _PARTITIONS
    body = {"groupId": OWN_GROUP, "topics": [{"name": ORDERS, "partitions": partitions}]}
    frame = wire.request(
        "OffsetCommit", 8, 7, "flood", {"generationIdOrMemberEpoch": -1, "memberId": "", **body}
    )
    with suppress(OSError):
        while not ended.is_set():
            for _ in range(_EACH):
                client.send(frame)
            for _ in range(_EACH):
                client.response("OffsetCommit", 8)
