"""Attacks on those who run a command: by the folder, by what they are given to run, and by who answers."""

from __future__ import annotations

import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow as pa
from deltalake import write_deltalake
from prometheus_client import CollectorRegistry, Gauge, generate_latest

import group_coordinator
from group_coordinator.cli.gateway import gateway_command
from group_coordinator.local.broker import LOOPBACK
from group_coordinator.observability.http_server import METRICS, metrics_port
from tests.attack.outcome import Outcome
from tests.attack.stage import Gateway, Stage, as_options
from tests.end_to_end.secured_broker import GATEWAY, MECHANISM, PASSWORDS, trust_store
from tests.support.until import until

_DEADLINE_S = 90.0
_OTHER_HOST = "127.0.0.2"
_CLIENT, _SECRET = "job", "Hush-secret"


def planted_module(stage: Stage) -> Outcome:
    """The gateway of `run --with-gateway` starts in a folder where someone has left a `click.py`."""
    folder = stage.new_folder("planted")
    (folder / "click.py").write_text("import pathlib\npathlib.Path('planted').touch()\n")
    command = [*gateway_command(None, [], None), "--help"]
    ours = {**os.environ, "PYTHONPATH": str(Path(group_coordinator.__file__).parents[1])}
    done = subprocess.run(command, cwd=folder, env=ours, capture_output=True, check=False)  # noqa: S603 - a fixed program
    ran = (folder / "planted").exists()
    came = f"status {done.returncode}, the planted module {'ran' if ran else 'did not run'}"
    return Outcome("`click.py` in the current folder", came, [came] if ran else [])


def secrets_in_arguments(stage: Stage) -> Outcome:
    """A password among the arguments shows in the list of processes."""
    folder = stage.new_folder("arguments")
    given = as_options({"sasl.password": _SECRET})
    with stage.process(["init", "--topics-only", *stage.own_login(), *given], folder) as process:
        status, said = process.wait(_DEADLINE_S), process.log.splitlines()[-1:]
    problems = [] if status and "sasl.password" in " ".join(said) else ["the command takes it"]
    problems += ["the refusal repeats the secret"] if _SECRET in process.log else []
    return Outcome("init --set sasl.password=...", f"status {status}: {' '.join(said)}", problems)


def redirected_secret(stage: Stage) -> Outcome:
    """The token endpoint sends the client with its secret to another host."""
    folder = stage.new_folder("redirected")
    with _server(_OTHER_HOST, None) as other, _server(LOOPBACK, other.url) as endpoint:
        given = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.username": _CLIENT,
            "sasl.oauthbearer.token.endpoint.url": endpoint.url,
            "ssl.truststore.location": str(trust_store(stage.certificates)),
        }
        servers = ["--bootstrap-server", stage.broker.bootstrap_servers]
        arguments = ["init", "--topics-only", *servers, *as_options(given)]
        secret = {"GROUP_COORDINATOR_SASL_PASSWORD": _SECRET}
        with stage.process(arguments, folder, **secret) as process:
            status = process.wait(_DEADLINE_S)
    wanted = f"Basic {b64encode(f'{_CLIENT}:{_SECRET}'.encode()).decode()}"
    leaked = wanted in other.logins
    came = f"status {status}; the other host was asked {len(other.logins)} times"
    problems = ["the other host has the client's secret"] if leaked else []
    if wanted not in endpoint.logins:
        problems.append(f"the endpoint itself was not asked: {process.log[-300:]}")
    return Outcome(f"302 to {_OTHER_HOST} by the token endpoint", came, problems)


class _Endpoint(ThreadingHTTPServer):
    """Redirects, or answers that there is no token; remembers what logins it was shown."""

    def __init__(self, host: str, redirect_to: str | None) -> None:
        super().__init__((host, 0), _Handler)
        self.redirect_to = redirect_to
        self.url = f"http://{host}:{self.server_port}/token"
        self.logins: list[str | None] = []


class _Handler(BaseHTTPRequestHandler):
    server: _Endpoint

    def do_POST(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.logins.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(302 if self.server.redirect_to else 400)
        if self.server.redirect_to:
            self.send_header("Location", self.server.redirect_to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _server(host: str, redirect_to: str | None) -> Iterator[_Endpoint]:
    with _Endpoint(host, redirect_to) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def other_hosts_certificate(stage: Stage) -> Outcome:
    """The certificate of whoever answers is of another host; the file of properties wants that looked at."""
    came, problems = [], []
    for words in (
        "ssl.check.hostname=yes",
        "ssl.check.hostname=1",
        "ssl.endpoint.identification.algorithm=HTTPS",
    ):
        said, is_served = _started_with(stage, words)
        came.append(f"{words}: {said}")
        if is_served:
            problems.append(f"{words} turns the check off")
    return Outcome(
        "a broker at localhost whose certificate is for 127.0.0.1", "; ".join(came), problems
    )


def _started_with(stage: Stage, words: str) -> tuple[str, bool]:
    folder = stage.new_folder("host-name")
    properties = folder / "client.properties"
    module = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    properties.write_text(
        f"security.protocol=SASL_SSL\nsasl.mechanism={MECHANISM}\n{words}\n"
        f'sasl.jaas.config={module} username="{GATEWAY}" password="{PASSWORDS[GATEWAY]}";\n'
        f"ssl.truststore.type=PEM\nssl.truststore.location={trust_store(stage.certificates)}\n"
    )
    given = {
        "gateway.listen": stage.free_listen(),
        "gateway.health.listen": "",
        "gateway.ssl.keystore.location": str(stage.own_certificate),
    }
    servers = f"localhost:{stage.broker.port}"
    arguments = ["gateway", "--bootstrap-server", servers, "--command-config", str(properties)]
    with stage.process([*arguments, *as_options(given)], folder) as process:
        until(
            lambda: not process.is_alive or Gateway.says_started in process.log,
            seconds=_DEADLINE_S,
            awaited="its start, or its end",
        )
        return (process.log.splitlines() or ["nothing"])[-1], process.is_alive


_STATEMENTS = (
    ";COPY (SELECT 1 AS a) TO 'written.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'written.csv'",
    "SELECT 1; COPY (SELECT 1 AS a) TO 'written.csv'",
    ";CREATE EXTERNAL TABLE users STORED AS CSV LOCATION '/etc/passwd'",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('/etc/passwd')",
    ";DROP TABLE offsets",
    "WITH a AS (SELECT 1) INSERT INTO offsets SELECT 'x' FROM a",
)


def sql_that_writes(stage: Stage) -> Outcome:
    """Someone passes on another one's text to `sql`."""
    folder = stage.new_folder("sql")
    write_deltalake(str(folder / "tables" / "offsets"), pa.table({"group_id": ["billing"]}))
    assert _is_taken(stage, folder, "SELECT group_id FROM offsets")
    taken = [text for text in _STATEMENTS if _is_taken(stage, folder, text)]
    written = [path.name for path in folder.glob("written.csv*")]
    problems = [f"taken: {text}" for text in taken] + [f"{name} was written" for name in written]
    came = f"{len(_STATEMENTS) - len(taken)} of {len(_STATEMENTS)} refused"
    return Outcome("; ".join(f"`{text}`" for text in _STATEMENTS), came, problems)


def _is_taken(stage: Stage, folder: Path, text: str) -> bool:
    with stage.process(["sql", text, "--tables", "./tables"], folder) as process:
        return process.wait(_DEADLINE_S) == 0


def rebound_host(stage: Stage) -> Outcome:
    """A page elsewhere has given its own name this machine's address."""
    registry = CollectorRegistry()
    Gauge("groups", "Names of groups", ["group"], registry=registry).labels("billing").set(1)
    with metrics_port((LOOPBACK, 0), partial(generate_latest, registry), lambda: None) as port:
        codes = {"the job's": _status_for_another(port)}
    with stage.gateway("rebound") as gateway:
        codes["the gateway's"] = _status_for_another(int(gateway.health.rpartition(":")[2]))
    problems = [f"{port} port is read" for port, code in codes.items() if code == HTTPStatus.OK]
    came = ", ".join(f"{port}: status {code}" for port, code in codes.items())
    return Outcome(
        "GET /metrics with another's Host, of the job and of the gateway", came, problems
    )


def _status_for_another(port: int) -> int:
    connection = HTTPConnection(LOOPBACK, port, timeout=5)
    connection.request("GET", METRICS, headers={"Host": f"evil.example:{port}"})
    status = connection.getresponse().status
    connection.close()
    return status
