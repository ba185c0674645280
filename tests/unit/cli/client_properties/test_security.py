"""Without Java; what it reads: tests/broker/clients/test_trust_stores.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.cli.client_properties.security import (
    login_options,
    tls_options,
    unused_by_login,
    used_by_login,
)
from tests.support.certificates import self_signed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gateway.pem: a key and its certificate; certificate.pem: that one alone; what begins as Java's stores do."""
    made = tmp_path_factory.mktemp("stores")
    self_signed(made)
    (made / "store.jks").write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    (made / "store.pkcs12").write_bytes(b"0\x82\x02\xa2")
    return made


def test_a_trust_store_in_pem_is_used_as_it_is(folder: Path) -> None:
    file = f"{folder}/certificate.pem"

    options = tls_options({"ssl.truststore.location": file, "ssl.truststore.type": "PEM"})

    assert options == {"ssl_cafile": file}


def test_certificates_among_the_properties(folder: Path) -> None:
    certificate = (folder / "certificate.pem").read_text(encoding="ascii")

    options = tls_options({"ssl.truststore.certificates": certificate})

    assert Path(options["ssl_cafile"]).read_text(encoding="ascii") == certificate


def test_a_key_in_pem(folder: Path) -> None:
    file = f"{folder}/gateway.pem"

    assert tls_options({"ssl.keystore.location": file, "ssl.keystore.type": "PEM"}) == {
        "ssl_certfile": file,
        "ssl_keyfile": file,
        "ssl_password": None,
    }


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        (
            {"ssl.truststore.location": "{0}/missing"},
            "ssl.truststore.location = {0}/missing: No such file or directory",
        ),
        *(
            (
                {key: ""},
                f"{key} is empty: set it, or remove it to trust the machine's own authorities",
            )
            for key in ("ssl.truststore.location", "ssl.truststore.certificates")
        ),
        (
            {"ssl.truststore.certificates": "-----BEGIN"},
            "ssl.truststore.certificates: the file has no readable certificate",
        ),
        (
            {"ssl.keystore.location": "{0}/store.pkcs12"},
            (
                "ssl.keystore.location = {0}/store.pkcs12 is not PEM: run openssl pkcs12 -nodes -out key.pem -in "
                "{0}/store.pkcs12 and give key.pem"
            ),
        ),
        (
            {"ssl.keystore.location": "{0}/store.jks"},
            (
                "ssl.keystore.location = {0}/store.jks is not PEM: run keytool -importkeystore -srckeystore "
                "{0}/store.jks -destkeystore key.p12 -deststoretype PKCS12, then openssl pkcs12 -nodes -out key.pem -in "
                "key.p12, and give key.pem"
            ),
        ),
        (
            {"ssl.keystore.location": "{0}/certificate.pem"},
            (
                "ssl.keystore.location = {0}/certificate.pem: ssl.key.password opens no key with certificates in it; check the "
                "password and that the file has both"
            ),
        ),
        (
            {"ssl.keystore.key": "-----BEGIN"},
            (
                "ssl.keystore.key is not supported, as kafka-python reads a key from a file: write the key and "
                "ssl.keystore.certificate.chain to a file, and set ssl.keystore.location to that file"
            ),
        ),
        *(
            (
                {"ssl.enabled.protocols": versions},
                f"ssl.enabled.protocols = {versions} is not valid: set TLSv1.2, TLSv1.3, or both with a comma between them",
            )
            for versions in ("", "tlsv1.3", "TLSv1.1,TLSv1", "TLSv1.3,TLSv9", "TLSv1.2;TLSv1.3")
        ),
        *(
            (
                {"ssl.endpoint.identification.algorithm": off},
                f"ssl.endpoint.identification.algorithm = {off} is not valid: set https, or an empty value, which checks no host name",
            )
            for off in ("none", "false", "off", "null", '""')
        ),
        (
            {"ssl.endpoint.identification.algorithm": "", "ssl.check.hostname": "true"},
            "ssl.endpoint.identification.algorithm =  contradicts ssl.check.hostname = true: remove one of them",
        ),
        (
            {"ssl.endpoint.identification.algorithm": "LDAPS"},
            "ssl.endpoint.identification.algorithm = LDAPS is not valid: set https, or an empty value, which checks no host name",
        ),
    ],
)
def test_a_store_that_cannot_be_used(folder: Path, properties: dict[str, str], why: str) -> None:
    given = {key: value.format(folder) for key, value in properties.items()}

    with pytest.raises(PropertiesError) as refused:
        tls_options(given)

    assert str(refused.value) == why.format(folder)


def test_where_there_is_no_java(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(PropertiesError) as refused:
        tls_options({"ssl.truststore.location": f"{folder}/store.jks"})

    assert str(refused.value) == (
        f"ssl.truststore.location = {folder}/store.jks is not PEM, and Java, which would read it, is missing: "
        f"install Java, or run keytool -list -rfc -keystore {folder}/store.jks > ca.pem on a machine with Java "
        "and give ca.pem"
    )


def test_who_speaks_no_tls_needs_no_store() -> None:
    assert tls_options({"security.protocol": "PLAINTEXT", "ssl.truststore.location": "/no"}) == {}


@pytest.mark.parametrize(
    ("algorithm", "is_checked"), [("", False), ("https", True), ("HTTPS", True)]
)
def test_whether_names_are_checked(algorithm: str, *, is_checked: bool) -> None:
    assert tls_options({"ssl.endpoint.identification.algorithm": algorithm}) == {
        "ssl_check_hostname": is_checked
    }


SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
ENDPOINT = "https://login.example/token"


@pytest.mark.parametrize(
    ("module", "user", "password"),
    [
        (f"{SCRAM} required username='KEY' password='S3C';", "KEY", "S3C"),
        (f"{SCRAM} required username=KEY password=S3C;", "KEY", "S3C"),
        (f'{SCRAM} required username="K\\"Y" password="S\\\\3\\103";', 'K"Y', "S\\3C"),
        (f'{SCRAM} required extra-password="x" username=KEY password="S3C";', "KEY", "S3C"),
    ],
)
def test_a_name_and_a_password(module: str, user: str, password: str) -> None:
    assert login_options({"sasl.jaas.config": module}) == {
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }


@pytest.mark.parametrize("protocol", ["sasl_plaintext", "Sasl_PlainText", "SASL_PLAINTEXT"])
def test_a_protocol_in_any_case(protocol: str) -> None:
    assert login_options({"security.protocol": protocol}) == {"security_protocol": "SASL_PLAINTEXT"}


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        (
            {"security.protocol": "SASLSSL"},
            "security.protocol = SASLSSL: it must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        ),
        (
            {"sasl.mechanism": "SCRAM-SHA512"},
            (
                "sasl.mechanism = SCRAM-SHA512: it must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, "
                "AWS_MSK_IAM, GSSAPI"
            ),
        ),
        (
            {"sasl.jaas.config": f"{SCRAM} required username=u password=1hush;"},
            'sasl.jaas.config: password has no value, or a value that needs quotes: write password="..."',
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": f"{BEARER} required clientId=billing clientSecret=hush;",
            },
            (
                "sasl.mechanism = OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in "
                "sasl.jaas.config"
            ),
        ),
    ],
)
def test_what_is_no_login_is_named(properties: dict[str, str], why: str) -> None:
    with pytest.raises(PropertiesError) as refused:
        login_options(properties)

    assert str(refused.value) == why


@pytest.mark.parametrize(
    "who",
    [
        {"sasl.jaas.config": f"{BEARER} required clientId='billing' clientSecret='hush' scope=s;"},
        {
            "sasl.jaas.config": f"{BEARER} required;",
            "sasl.oauthbearer.client.credentials.client.id": "billing",
            "sasl.oauthbearer.client.credentials.client.secret": "hush",
            "sasl.oauthbearer.scope": "s",
        },
    ],
)
def test_a_login_by_token(who: dict[str, str]) -> None:
    properties = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        **who,
    }

    options = login_options(properties)

    assert options["sasl_mechanism"] == "OAUTHBEARER"
    assert options["sasl_oauth_token_provider"].client_id == "billing"
    assert used_by_login(properties) >= properties.keys()
    assert unused_by_login(properties) == []


def test_a_login_at_msk_as_its_pages_show_it() -> None:
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName=dev;",
        "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
    }

    assert login_options(properties) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "AWS_MSK_IAM",
    }
    assert used_by_login(properties) >= properties.keys()
    assert unused_by_login(properties) == ["awsProfileName in sasl.jaas.config"]


def test_a_handler_of_ones_own_is_not_used() -> None:
    handler = {"sasl.client.callback.handler.class": "com.example.Handler"}

    assert handler.keys().isdisjoint(used_by_login(handler))
