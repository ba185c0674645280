"""Java trust stores in client properties; keytool makes and reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.cli.client_properties.security import tls_options
from tests.support.certificates import STORE_PASSWORD, self_signed, trusted_by_java

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("stores")
    self_signed(made)
    for kind in ("JKS", "PKCS12"):
        trusted_by_java(made / "certificate.pem", kind)
    return made


@pytest.mark.parametrize(
    ("kind", "by_password"),
    [
        ("jks", {"ssl.truststore.password": STORE_PASSWORD}),
        ("jks", {}),
        ("pkcs12", {"ssl.truststore.password": STORE_PASSWORD, "ssl.truststore.type": "PKCS12"}),
    ],
)
def test_a_trust_store_of_java_becomes_pem(
    folder: Path, kind: str, by_password: dict[str, str]
) -> None:
    options = tls_options(
        {"ssl.truststore.location": f"{folder}/certificate.{kind}", **by_password}
    )

    trusted = Path(options["ssl_cafile"]).read_text(encoding="ascii").split()
    assert trusted == (folder / "certificate.pem").read_text(encoding="ascii").split()


@pytest.mark.parametrize(
    ("kind", "by_password", "why"),
    [
        (
            "jks",
            {"ssl.truststore.password": "other"},
            "Keystore was tampered with, or password was incorrect",
        ),
        ("pkcs12", {"ssl.truststore.password": "other"}, "keystore password was incorrect"),
        ("pkcs12", {}, "keytool finds no certificate without ssl.truststore.password in it"),
    ],
)
def test_a_password_that_is_wrong_or_missing(
    folder: Path, kind: str, by_password: dict[str, str], why: str
) -> None:
    store = f"{folder}/certificate.{kind}"

    with pytest.raises(PropertiesError) as refused:
        tls_options({"ssl.truststore.location": store, **by_password})

    assert str(refused.value) == f"ssl.truststore.location = {store}: {why}"
