"""A private key and a certificate in one PEM file, as the gateway takes them."""

from __future__ import annotations

import subprocess
from pathlib import Path


def self_signed(folder: Path) -> Path:
    """For servers at 127.0.0.1; the file is also what their clients must trust."""
    store = folder / "gateway.pem"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    subject = ("-subj", "/CN=gateway", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ("openssl", "req", "-x509", "-nodes", *curve, *subject, "-days", "2")
    subprocess.run(
        [*command, "-keyout", store, "-out", folder / "certificate.pem"],
        check=True,
        capture_output=True,
    )
    with store.open("ab") as file:
        file.write((folder / "certificate.pem").read_bytes())
    return store
