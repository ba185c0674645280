"""A broker that wants a login and encrypts, with users who may do as much as their ACLs say."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.jars import java
from tests.support.certificates import self_signed

ADMIN, JOB, CLIENT, MUTE, STRANGER = "admin", "job", "client", "mute", "stranger"
LIMITED, BY_PLAIN, BY_TOKEN, GATEWAY = "limited", "by-plain", "by-token", "gateway"
PASSWORDS = {
    ADMIN: "admin-Hush1",
    JOB: 'job-Hush2 "quoted" \\',
    MUTE: "mute-Hush3",
    STRANGER: "stranger-Hush4",
    CLIENT: "client-Hush5",
    LIMITED: "limited-Hush6",
    GATEWAY: "gateway-Hush8",
}
"""By user; the job's has what must be escaped in a JAAS text."""
PLAIN_PASSWORD = "plain-Hush7"  # noqa: S105 - as those above
SESSION_MS = 60_000
"""Of logins with PLAIN."""
MECHANISM = "SCRAM-SHA-512"
KEY_STORE_PASSWORD = "changeit"  # noqa: S105 - of a store that lives as long as a test
_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"

Grant = tuple[ResourceType, str, ACLOperation]

CREATION: Sequence[Grant] = (
    (ResourceType.TOPIC, "group-events", ACLOperation.CREATE),
    (ResourceType.TOPIC, "group-responses", ACLOperation.CREATE),
)
"""What `init` needs beside what the job needs."""
WORK: Sequence[Grant] = (
    (ResourceType.TOPIC, "group-events", ACLOperation.DESCRIBE_CONFIGS),
    (ResourceType.TOPIC, "group-events", ACLOperation.READ),
    (ResourceType.TOPIC, "group-events", ACLOperation.WRITE),
    (ResourceType.TOPIC, "group-responses", ACLOperation.WRITE),
    (ResourceType.TOPIC, "group-responses", ACLOperation.DESCRIBE_CONFIGS),
)
"""What the job needs; READ and WRITE imply DESCRIBE."""
ASKING: Sequence[Grant] = (
    (ResourceType.TOPIC, "group-events", ACLOperation.WRITE),
    (ResourceType.TOPIC, "group-responses", ACLOperation.READ),
)
"""What a client of the coordinator needs."""
SEEING_ACLS: Sequence[Grant] = ((ResourceType.CLUSTER, "kafka-cluster", ACLOperation.DESCRIBE),)
"""What the job needs to go by the cluster's rules."""
OF_BILLING: Sequence[Grant] = (
    (ResourceType.GROUP, "billing", ACLOperation.READ),
    (ResourceType.TOPIC, "orders", ACLOperation.READ),
)
"""What a client of the coordinator may do with groups."""
ALL_TOPICS: Sequence[Grant] = ((ResourceType.TOPIC, "*", ACLOperation.DESCRIBE),)
"""What a gateway needs to know the cluster."""
WORK_WITHOUT_ANSWERS: Sequence[Grant] = (
    *WORK[:3],
    (ResourceType.TOPIC, "group-responses", ACLOperation.DESCRIBE),
    (ResourceType.TOPIC, "group-responses", ACLOperation.DESCRIBE_CONFIGS),
)


def secured_broker(folder: Path, port: int | None = None, **properties: str) -> EmbeddedBroker:
    """A broker for SASL_SSL; its certificate is made in the folder. `properties` are Kafka's."""
    login = (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{ADMIN}" password="{PASSWORDS[ADMIN]}";'
    )
    return EmbeddedBroker(
        port=port,
        properties={
            "listener.security.protocol.map": "CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": f"{MECHANISM},PLAIN,OAUTHBEARER",
            "sasl.mechanism.inter.broker.protocol": MECHANISM,
            f"listener.name.clients.{MECHANISM.lower()}.sasl.jaas.config": login,
            "listener.name.clients.plain.sasl.jaas.config": (
                "org.apache.kafka.common.security.plain.PlainLoginModule required "
                f'user_{BY_PLAIN}="{PLAIN_PASSWORD}" user_other="{PLAIN_PASSWORD}";'
            ),
            "listener.name.clients.plain.connections.max.reauth.ms": str(SESSION_MS),
            # Without another judge, tokens that nobody signed are good.
            "listener.name.clients.oauthbearer.sasl.jaas.config": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
                'unsecuredLoginStringClaim_sub="broker";'
            ),
            **_tls(folder),
            "ssl.truststore.location": str(trust_store(folder)),
            "authorizer.class.name": _AUTHORIZER,
            # The one who comes from the controller's listener has no name.
            "super.users": f"User:{ADMIN};User:ANONYMOUS",
            **properties,
        },
        users=PASSWORDS,
    )


def mutual_broker(folder: Path) -> EmbeddedBroker:
    """A broker that knows users by certificate. The gateway's may do everything, as that of many a job."""
    tls = _tls(folder)
    own = _of_gateway(folder)
    own.mkdir()
    self_signed(own)
    trusted = own / "trusted-by-broker.pem"
    trusted.write_bytes(trust_store(folder).read_bytes() + (own / "certificate.pem").read_bytes())
    return EmbeddedBroker(
        properties={
            "listener.security.protocol.map": "CLIENTS:SSL,CONTROLLER:PLAINTEXT",
            "ssl.client.auth": "required",
            **tls,
            "ssl.truststore.location": str(trusted),
            "authorizer.class.name": _AUTHORIZER,
            "super.users": "User:CN=gateway;User:CN=broker;User:ANONYMOUS",
        }
    )


def certificate_of_gateway(folder: Path) -> dict[str, Any]:
    """Options of kafka-python, for a mutual broker."""
    return {
        "security_protocol": "SSL",
        "ssl_cafile": str(trust_store(folder)),
        **dict.fromkeys(("ssl_certfile", "ssl_keyfile"), str(_of_gateway(folder) / "gateway.pem")),
    }


def _of_gateway(folder: Path) -> Path:
    return folder / "shown-to-brokers"


def trust_store(folder: Path) -> Path:
    return folder / "trusted.pem"


def login_of(user: str, folder: Path) -> dict[str, Any]:
    """Options of kafka-python."""
    return {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": MECHANISM,
        "sasl_plain_username": user,
        "sasl_plain_password": PASSWORDS[user],
        "ssl_cafile": str(trust_store(folder)),
    }


def grant(broker: EmbeddedBroker, folder: Path, user: str, grants: Sequence[Grant]) -> None:
    acls = [
        ACL(f"User:{user}", "*", operation, ACLPermissionType.ALLOW, ResourcePattern(kind, name))
        for kind, name, operation in grants
    ]
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, **login_of(ADMIN, folder))
    with closing(admin):
        assert admin.create_acls(acls)["failed"] == []


def _tls(folder: Path) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(_key_store(folder)),
        "ssl.keystore.password": KEY_STORE_PASSWORD,
        "ssl.truststore.type": "PEM",
    }


def _key_store(folder: Path) -> Path:
    store = folder / "broker.p12"
    if store.exists():  # another broker's, whom the same clients trust
        return store
    _keytool(
        *("-genkeypair", "-keystore", str(store), "-keyalg", "EC", "-validity", "2"),
        *("-dname", "CN=broker", "-ext", "san=ip:127.0.0.1"),
    )
    _keytool("-exportcert", "-keystore", str(store), "-rfc", "-file", str(trust_store(folder)))
    return store


def _keytool(*arguments: str) -> None:
    keytool = Path(java()).with_name("keytool")
    subprocess.run(  # noqa: S603 - a fixed program
        [keytool, *arguments, "-alias", "broker", "-storepass", KEY_STORE_PASSWORD],
        check=True,
        capture_output=True,
    )
