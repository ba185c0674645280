"""An OAuth 2 token endpoint on this machine, for one client."""

from __future__ import annotations

import hmac
import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

CLIENT_ID, CLIENT_SECRET = "job", 'hush "quoted" \\'
ISSUER, AUDIENCE = "https://login.example.com", "kafka"
"""Who signs tokens, and whom they are for; a broker of Kafka 4.4 wants to know both."""
SIGNING_KEY = b"signs every token of the test..."
LIFETIME_S = 600


def key_set() -> str:
    """What those need who judge the tokens: a JSON Web Key Set."""
    key = {"kty": "oct", "kid": "1", "alg": "HS256", "k": _base64(SIGNING_KEY)}
    return json.dumps({"keys": [key]})


def _base64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


class TokenEndpoint:
    """What it was asked for, and how it answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.forms: list[dict[str, str]] = []
        self.status = 200
        self.answer: dict[str, Any] | None = None
        """Instead of a token."""
        self.headers: dict[str, str] = {}
        """More than usual."""

    def answered(self, form: dict[str, str], login: str) -> tuple[int, dict[str, Any]]:
        self.forms.append(form)
        wanted = b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if login != f"Basic {wanted}":
            return 401, {"error": "invalid_client"}
        if self.status != 200 or self.answer is not None:
            return self.status, self.answer or {}
        return 200, {"access_token": signed_token(), "expires_in": LIFETIME_S}


def signed_token() -> str:
    now_s = int(time.time())
    times = {"iat": now_s, "exp": now_s + LIFETIME_S}
    claims = {"iss": ISSUER, "sub": CLIENT_ID, "aud": AUDIENCE, "scope": "groups"} | times
    head = _base64(json.dumps({"alg": "HS256", "kid": "1"}).encode())
    signed = f"{head}.{_base64(json.dumps(claims).encode())}"
    return f"{signed}.{_base64(hmac.digest(SIGNING_KEY, signed.encode(), 'sha256'))}"


@contextmanager
def token_endpoint(host: str = "127.0.0.1") -> Iterator[TokenEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, body = endpoint.answered(dict(parse_qsl(form)), self.headers["Authorization"])
            content = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **endpoint.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((host, 0), Handler) as server:
        endpoint = TokenEndpoint(f"http://{host}:{server.server_port}/token")
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield endpoint
        server.shutdown()
