"""Attacks of someone who reaches the gateway's port and has no login."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import ExitStack
from struct import Struct

from group_coordinator.codecs import wire
from group_coordinator.gateway.api_versions import APIS, ServedApi
from tests.attack.client import Client
from tests.attack.memory import Memory
from tests.attack.outcome import Outcome
from tests.attack.stage import Gateway, Stage
from tests.end_to_end.secured_broker import MECHANISM

HANDSHAKE = {"mechanism": MECHANISM}
SASL_BYTES, BEFORE_BYTES = 512 * 1024, 8 * 1024
"""Limits of requests before a login: SaslAuthenticate, and ApiVersions and SaslHandshake."""
LONGEST_LOGIN_S = 30.0
"""Time from the connection to a finished login."""
_HEAD = Struct(">ihhi")
_MANY_BYTES = 16 * 1024 * 1024
_SOON_S = 2.0
_UNFINISHED = 20
_BY_ADDRESS = 20
_MOST_GROWTH_MB = 40.0
_SLACK_S = 12.0
"""On top of LONGEST_LOGIN_S: the gateway looks every few seconds."""


def frames_above_their_limit(stage: Stage) -> Outcome:
    """Announce frames of each API, one byte above the limit of its kind; nobody has to wait for the rest."""
    with stage.gateway("frames-above-limit") as gateway:
        open_ones = [
            api.name
            for api in APIS.values()
            if not _is_hung_up_at_once(gateway, api, _limit(api) + 1)
        ]
        refused_ones = [
            api for api in ("ApiVersions", "SaslAuthenticate") if not _is_taken(gateway, api)
        ]
    problems = [f"{', '.join(open_ones)}: waits for the rest"] if open_ones else []
    problems += [f"{api} at its limit is refused" for api in refused_ones]
    sent = (
        f"heads of {len(APIS)} APIS, sizes one byte above the limits "
        f"({BEFORE_BYTES} bytes; SaslAuthenticate {SASL_BYTES}; others the broker's)"
    )
    return Outcome(sent, f"{len(APIS) - len(open_ones)} hung up on at the head", problems)


def _limit(api: ServedApi) -> int:
    if api.name == "SaslAuthenticate":
        return SASL_BYTES
    return BEFORE_BYTES if api.name in ("ApiVersions", "SaslHandshake") else _MANY_BYTES


def _is_hung_up_at_once(gateway: Gateway, api: ServedApi, size: int) -> bool:
    with gateway.client() as client:
        if api.name == "SaslAuthenticate":
            client.ask("SaslHandshake", 1, HANDSHAKE)
        # Produce is sent on when its beginning says whether it wants a response.
        client.send(_HEAD.pack(size, api.key, api.versions[-1], 7) + bytes(16))
        return client.is_hung_up(_SOON_S)


def _is_taken(gateway: Gateway, api: str) -> bool:
    """Whether the broker responds to a frame at its limit."""
    with gateway.client() as client:
        if api == "SaslAuthenticate":
            client.ask("SaslHandshake", 1, HANDSHAKE)
            return bool(_answers(client, authenticate_without_a_name(SASL_BYTES)))
        return bool(_answers(client, api_versions(BEFORE_BYTES)))


def _answers(client: Client, frame: bytes) -> bytes:
    client.send(frame)
    try:
        return client.socket.recv(1)
    except OSError:
        return b""


def authenticate_without_a_name(size: int) -> bytes:
    """Return a frame of that size which a broker refuses without a long look."""

    def frame(said_bytes: int) -> bytes:
        said = {"authBytes": b64encode(b"x" * said_bytes).decode()}
        return wire.request("SaslAuthenticate", 2, 7, "someone", said)

    return _padded(frame, size)


def authenticate(size: int) -> bytes:
    """Return a first message of SCRAM with a name that makes the frame so long, as its size says."""

    def frame(name_bytes: int) -> bytes:
        first = b"n,,n=" + b"a" * name_bytes + b",r=abc"
        said = {"authBytes": b64encode(first).decode()}
        return wire.request("SaslAuthenticate", 2, 7, "someone", said)

    return _padded(frame, size)


def api_versions(size: int) -> bytes:
    """Return a whole frame of that size, with a long name of a client."""

    def frame(name_bytes: int) -> bytes:
        software = {"clientSoftwareName": "a" * name_bytes, "clientSoftwareVersion": "1"}
        return wire.request("ApiVersions", 3, 7, "someone", software)

    return _padded(frame, size)


def _padded(frame: Callable[[int], bytes], size: int) -> bytes:
    # A length of three bytes is written for both: the second frame is exactly as long as it must be.
    assumed = frame(size // 2)
    found = frame(size // 2 + size + 4 - len(assumed))
    assert len(found) == size + 4, (len(found), size)
    return found


def long_name(stage: Stage) -> Outcome:
    """Log in with a name of 16 MiB."""
    with (
        stage.gateway("long-name") as gateway,
        Memory(gateway) as memory,
        gateway.client() as client,
    ):
        client.ask("SaslHandshake", 1, HANDSHAKE)
        client.send(authenticate(_MANY_BYTES))
        is_hung_up = client.is_hung_up(30)
    problems = _growth(memory)
    if not is_hung_up:
        problems.append("still connected")
    return Outcome(
        f"SaslAuthenticate, {_MANY_BYTES} bytes, a name of SCRAM",
        _came(memory, is_hung_up=is_hung_up),
        problems,
    )


def unfinished_frames(stage: Stage) -> Outcome:
    """Send all of 16 MiB but the last byte."""
    with stage.gateway("unfinished") as gateway, Memory(gateway) as memory, ExitStack() as held:
        clients = [held.enter_context(gateway.client()) for _ in range(_UNFINISHED)]
        for client in clients:
            client.ask("SaslHandshake", 1, HANDSHAKE)
            client.send(authenticate(_MANY_BYTES)[:-1])
        hung_up = sum(client.is_hung_up(0.2) for client in clients)
    problems = _growth(memory)
    if hung_up < _UNFINISHED:
        problems.append(f"{_UNFINISHED - hung_up} still connected")
    sent = f"{_UNFINISHED} SaslAuthenticate of {_MANY_BYTES} bytes without the last one"
    return Outcome(sent, f"{hung_up} hung up on; {memory.growth_mb:.0f} MB more", problems)


def _growth(memory: Memory) -> list[str]:
    grew = memory.growth_mb > _MOST_GROWTH_MB
    return [f"{memory.growth_mb:.0f} MB more in memory"] if grew else []


def _came(memory: Memory, *, is_hung_up: bool) -> str:
    end = "hung up" if is_hung_up else "nothing"
    return f"{end}; {memory.growth_mb:.0f} MB more"


def connections_of_one_address(stage: Stage) -> Outcome:
    """Come again and again from one address, which has a limit, while another address has room."""
    limit = {"gateway.max.connections.per.ip": str(_BY_ADDRESS)}
    with stage.gateway("one-address", limit) as gateway, ExitStack() as held:
        taken = sum(_comes_in(gateway, held) for _ in range(2 * _BY_ADDRESS))
        with gateway.client() as other:
            other_is_served = bool(_answers(other, api_versions(BEFORE_BYTES)))
    problems = [f"{taken} are taken"] if taken > _BY_ADDRESS else []
    problems += [] if other_is_served else ["another address finds no room"]
    sent = f"{2 * _BY_ADDRESS} connections of one address, whose limit is {_BY_ADDRESS}"
    return Outcome(sent, f"{taken} taken; another address is served: {other_is_served}", problems)


def _comes_in(gateway: Gateway, held: ExitStack) -> bool:
    try:
        client = held.enter_context(gateway.client("127.0.3.1"))
    except OSError:
        return False
    return bool(_answers(client, api_versions(BEFORE_BYTES)))


def endless_logins(stage: Stage) -> Outcome:
    """Say something every second and never log in."""
    byte, question = b"\0", wire.request("ApiVersions", 0, 7, "someone", {})
    with stage.gateway("endless") as gateway, ExitStack() as held:
        kinds = {
            "nothing": b"",
            "one byte a second of a SaslAuthenticate": byte,
            "an ApiVersions a second": question,
        }
        clients = {kind: held.enter_context(gateway.client()) for kind in kinds}
        trickling = clients["one byte a second of a SaslAuthenticate"]
        trickling.ask("SaslHandshake", 1, HANDSHAKE)
        trickling.send(authenticate(SASL_BYTES)[:100])
        begun_s = time.monotonic()
        ends_s: dict[str, float] = {}
        while len(ends_s) < len(kinds) and time.monotonic() - begun_s < LONGEST_LOGIN_S + _SLACK_S:
            for kind, client in clients.items():
                if kind not in ends_s and client.is_hung_up(1 / len(kinds)):
                    ends_s[kind] = time.monotonic() - begun_s
                client.send(kinds[kind])
    came = ", ".join(f"{kind}: hung up after {end_s:.0f} s" for kind, end_s in ends_s.items())
    problems = [f"{kind}: still connected" for kind in kinds if kind not in ends_s]
    waited = f"for {LONGEST_LOGIN_S + _SLACK_S:.0f} s: "
    return Outcome(waited + "; ".join(kinds), came or "nothing", problems)
