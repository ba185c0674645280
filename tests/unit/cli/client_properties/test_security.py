"""Without Java; what it reads: tests/broker/clients/test_trust_stores.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.cli.client_properties.security import tls_options
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
