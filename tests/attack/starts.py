"""Starts of a gateway that would give its user's rights, or clients' passwords, to anyone."""

from __future__ import annotations

from kafka.admin import ACLOperation, ResourceType

from group_coordinator.local.broker import LOOPBACK, free_row
from tests.attack.outcome import Outcome
from tests.attack.stage import ORDERS, PORTS, Gateway, Stage, as_options
from tests.end_to_end.secured_broker import ALL_TOPICS, ASKING, grant, trust_store
from tests.support.job_process import JobProcess
from tests.support.until import until

_ELSEWHERE = "192.0.2.1"
"""An address for documentation: no machine has it, so that nothing listens where a start is not refused."""
_DEADLINE_S = 60.0


def lent_certificate(stage: Stage) -> Outcome:
    """The brokers know users by certificate, and clients of the gateway show none."""
    rights = [*ALL_TOPICS, *ASKING, (ResourceType.TOPIC, ORDERS, ACLOperation.READ)]
    grant(stage.broker, stage.certificates, "CN=gateway", rights)
    folder, port = stage.new_folder("lent"), free_row(PORTS)
    arguments = [
        *("gateway", "--bootstrap-server", f"{LOOPBACK}:{stage.certified_port}"),
        *as_options(
            {
                "security.protocol": "SSL",
                "ssl.truststore.location": str(trust_store(stage.certificates)),
                "ssl.keystore.location": str(stage.own_certificate),
                "gateway.listen": f"{LOOPBACK}:{port}",
                "gateway.health.listen": f"{LOOPBACK}:{port + PORTS - 1}",
                "gateway.ssl.keystore.location": str(stage.own_certificate),
            }
        ),
    ]
    with JobProcess(arguments, folder) as process:
        gateway = Gateway(
            process, port, stage.certificates / "certificate.pem", folder / "gateway.log"
        )
        if not _serves(process, gateway):
            return Outcome(_LENT, f"no start: {_last_line(gateway.log)}", [])
        came, problems = _with_its_rights(gateway)
    return Outcome(_LENT, came, problems)


_LENT = "a gateway with a client certificate for the brokers; then Metadata by a client without one"


def _with_its_rights(gateway: Gateway) -> tuple[str, list[str]]:
    try:
        with gateway.client() as client:
            topics = client.ask("Metadata", 12, {"topics": None})["topics"]
    except OSError as error:
        return f"the client is refused: {error!r}", []
    names = sorted(topic["name"] for topic in topics)
    problems = [f"a client without a certificate sees {len(names)} topics"] if names else []
    return f"the topics {', '.join(names)}", problems


def passwords_in_clear_text(stage: Stage) -> Outcome:
    """Brokers are reached by TLS, clients on other machines are not."""
    listen = f"{_ELSEWHERE}:{free_row(PORTS)}"
    folder = stage.new_folder("clear")
    arguments = ["gateway", *stage.own_login(), *as_options({"gateway.listen": listen})]
    with stage.process(arguments, folder) as process:
        process.wait(_DEADLINE_S)
        said = _last_line(process.log)
    problems = (
        [] if "password" in said else ["only the address, which is no one's, stops the start"]
    )
    sent = "a gateway for SASL_SSL brokers that listens for other machines, without a certificate"
    return Outcome(sent, said, problems)


def _serves(process: JobProcess, gateway: Gateway) -> bool:
    until(
        lambda: not process.is_alive or gateway.is_ready(),
        seconds=_DEADLINE_S,
        awaited=lambda: f"readiness, or the end:\n{process.log}",
    )
    return process.is_alive


def _last_line(log: str) -> str:
    return (log.splitlines() or ["nothing"])[-1]
