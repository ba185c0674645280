"""Does a client notice a crowd that does not log in, and what does the crowd cost the gateway?"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.attack.client import Client
from tests.attack.memory import Memory
from tests.attack.outcome import Outcome
from tests.attack.repeated import Repeated
from tests.attack.stage import OWN_GROUP, Gateway, Stage
from tests.end_to_end.secured_broker import LIMITED
from tests.support.job_process import ROOT

_CALM_S, _STAY_S = 5.0, 10.0
_PAUSE_S = 0.01
_MOST_GROWTH_MB = 100.0
_LONGEST_WAIT_MS = 100.0
_CROWD_S = 300.0


class Honest(Repeated):
    """Asks for a coordinator, which no broker is asked about, again and again, for the time of its block."""

    def __init__(self, client: Client) -> None:
        super().__init__(_PAUSE_S)
        self._client = client
        self.waits_ms: list[float] = []
        self.problem = ""

    def step(self) -> None:
        """Ask once; a lost connection stays the problem."""
        if self.problem:
            return
        begun_s = time.perf_counter()
        try:
            self._client.ask("FindCoordinator", 4, {"coordinatorKeys": [OWN_GROUP]})
        except OSError as error:
            self.problem = f"a client that had logged in lost its connection: {error!r}"
        self.waits_ms.append((time.perf_counter() - begun_s) * 1000)

    def __str__(self) -> str:
        ordered = sorted(self.waits_ms)
        p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        return f"p50 {p50:.1f}, p99 {p99:.1f}, max {ordered[-1]:.1f} ms of {len(ordered)}"


def hostile_connections(stage: Stage, connections: int) -> Outcome:
    """All before a login, with frames at their limits, while a client measures what it waits."""
    with stage.gateway("crowd") as gateway, gateway.client_of(LIMITED) as client:
        with Honest(client) as calm:
            time.sleep(_CALM_S)
        with (
            Memory(gateway) as memory,
            Honest(client) as strained,
            _crowd(gateway, connections) as crowd,
        ):
            counts = _line(crowd)
            time.sleep(_STAY_S)
            counts |= _ended(crowd)
        after_mb = gateway.resident_mb
        is_ready = gateway.is_ready()
    problems = [strained.problem] if strained.problem else []
    if memory.growth_mb > _MOST_GROWTH_MB:
        problems.append(
            f"{memory.growth_mb:.0f} MB more in memory, at most {_MOST_GROWTH_MB:.0f} may be"
        )
    if max(strained.waits_ms) > _LONGEST_WAIT_MS:
        problems.append(
            f"a response after {max(strained.waits_ms):.0f} ms, at most {_LONGEST_WAIT_MS:.0f} may be"
        )
    if not is_ready:
        problems.append("the gateway is not ready any more")
    came = (
        f"{json.dumps(counts)}; memory {memory.before_mb:.0f}, {memory.most_mb:.0f}, {after_mb:.0f} MB "
        f"before, at most, after; another client alone: {calm}; meanwhile: {strained}"
    )
    sent = (
        f"{connections} connections: SaslAuthenticate of 512 KiB and ApiVersions of 8 KiB, three of four "
        "without their last byte"
    )
    return Outcome(sent, came, problems)


@contextmanager
def _crowd(gateway: Gateway, connections: int) -> Iterator[subprocess.Popen[str]]:
    words = [str(gateway.port), str(gateway.trusted), str(connections)]
    command = [sys.executable, "-m", "tests.attack.crowd", *words]
    with subprocess.Popen(  # noqa: S603 - a fixed program
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _line(crowd: subprocess.Popen[str]) -> dict[str, Any]:
    assert crowd.stdout is not None
    found: dict[str, Any] = json.loads(crowd.stdout.readline())
    return found


def _ended(crowd: subprocess.Popen[str]) -> dict[str, Any]:
    assert crowd.stdin is not None
    crowd.stdin.close()
    found = _line(crowd)
    crowd.wait(_CROWD_S)
    return found
