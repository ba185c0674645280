"""A private key and a certificate in one PEM file, which the gateway reads, and Java key stores."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from group_coordinator.local.jars import java

STORE_PASSWORD: Final = "changeit"  # noqa: S105 - of a store that lives as long as a test


_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def self_signed(folder: Path, key: tuple[str, ...] = _CURVE) -> Path:
    """For servers at 127.0.0.1; the file is also what their clients must trust. `key` has openssl's options for the key."""
    store = folder / "gateway.pem"
    subject = ("-subj", "/CN=gateway", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ("openssl", "req", "-x509", "-nodes", *key, *subject, "-days", "2")
    subprocess.run(  # noqa: S603 - a fixed program
        [*command, "-keyout", store, "-out", folder / "certificate.pem"],
        check=True,
        capture_output=True,
    )
    with store.open("ab") as file:
        file.write((folder / "certificate.pem").read_bytes())
    return store


def trusted_by_java(certificate: Path, kind: str) -> Path:
    """Write a Java store, JKS or PKCS12, with the certificate of a PEM file; its password is STORE_PASSWORD."""
    store = certificate.with_suffix(f".{kind.lower()}")
    trusted = ("-importcert", "-noprompt", "-alias", "ca", "-file", str(certificate))
    where = ("-keystore", str(store), "-storetype", kind, "-storepass", STORE_PASSWORD)
    subprocess.run([java("keytool"), *trusted, *where], check=True, capture_output=True)  # noqa: S603 - a fixed program
    return store
