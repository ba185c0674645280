"""A client by TLS that sends bytes of its choice and reads frame by frame."""

from __future__ import annotations

import socket
import ssl
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from kafka.net.sasl import get_sasl_mechanism

from group_coordinator.codecs import wire
from group_coordinator.local.broker import LOOPBACK
from tests.gateway_faults.frames import read_frame

PATIENCE_S = 20.0
_CLIENT_ID = "someone"


class Client:
    """One connection to a port of the gateway, or of the broker."""

    def __init__(self, port: int, trusted: Path, address: str = LOOPBACK) -> None:
        """`address` is where it comes from: another one of the loopback interface is another host to limits by address."""
        context = ssl.create_default_context(cafile=trusted)
        plain = socket.create_connection((LOOPBACK, port), PATIENCE_S, source_address=(address, 0))
        try:
            self.socket = context.wrap_socket(plain, server_hostname=LOOPBACK)
        except BaseException:
            plain.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the body of its response."""
        self.send(wire.request(api, version, 7, _CLIENT_ID, body))
        return self.response(api, version)

    def response(self, api: str, version: int) -> dict[str, Any]:
        """Return the body of the next response."""
        return wire.response_body(api, version, read_frame(self.socket))[1]

    def send(self, content: bytes) -> bool:
        """Return whether the other side took all of it."""
        try:
            self.socket.sendall(content)
        except OSError:
            return False
        return True

    def abort(self) -> None:
        """Hang up, whatever another thread waits for."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def is_hung_up(self, within_s: float) -> bool:
        """Return whether the other side ends the connection in time; what it says until then is dropped."""
        self.socket.settimeout(within_s)
        try:
            while self.socket.recv(65_536):
                pass
        except TimeoutError:
            return False
        except OSError:
            return True
        else:
            return True
        finally:
            self.socket.settimeout(PATIENCE_S)

    def log_in(self, options: dict[str, Any]) -> None:
        """Log in; options are kafka-python's."""
        name = options["sasl_mechanism"]
        assert self.ask("SaslHandshake", 1, {"mechanism": name})["errorCode"] == 0
        mechanism = get_sasl_mechanism(name)(host=LOOPBACK, **options)
        while not mechanism.is_done():
            said = {"authBytes": b64encode(mechanism.auth_bytes()).decode()}
            answer = self.ask("SaslAuthenticate", 2, said)
            assert answer["errorCode"] == 0, answer
            mechanism.receive(b64decode(answer["authBytes"]))
