"""TLS as Kafka's client properties say it, for kafka-python, whose files are PEM."""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.local.java import JavaMissingError, java

USED_BY_TLS: Final = frozenset(
    (
        *("ssl.endpoint.identification.algorithm", "ssl.truststore.certificates"),
        *("ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type"),
        *("ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type"),
        *("ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.key.password"),
    )
)
"""The properties that `tls_options` uses. What a store is, its content says: Java reads JKS and PKCS12 by either type too."""

_PEM, _JKS = b"-----BEGIN ", b"\xfe\xed\xfe\xed"
_CERTIFICATE = re.compile(
    r"(?:Certificate\[(?P<place>\d+)\]:\s+)?"
    r"(?P<pem>-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n)",
    re.DOTALL,
)
_PASSWORD = "STORE_PASSWORD"  # noqa: S105 - the name of a variable
_KEYTOOL_TIMEOUT_S = 60


def tls_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Options of kafka-python for TLS; none where the properties say that there is no TLS.

    Raises:
        PropertiesError: the message names the property, and what to do.
    """
    if not properties.get("security.protocol", "SSL").upper().endswith("SSL"):
        return {}
    return {
        **_host_name_check(properties),
        **_authorities(properties),
        **_key(properties),
    }


def is_pem(file: str) -> bool:
    """Whether there is such a file, and it is PEM."""
    path = Path(file)
    return path.is_file() and _PEM in path.read_bytes()


def _host_name_check(properties: Mapping[str, str]) -> dict[str, Any]:
    key = "ssl.endpoint.identification.algorithm"
    algorithm = properties.get(key)
    if algorithm is None:
        return {}
    if algorithm.lower() not in {"", "https"}:
        raise PropertiesError(
            f"{key} = {algorithm}: it must be https, or empty, which checks no name"
        )
    return {"ssl_check_hostname": algorithm != ""}


def _authorities(properties: Mapping[str, str]) -> dict[str, Any]:
    inline = properties.get("ssl.truststore.certificates")
    location = properties.get("ssl.truststore.location")
    if inline:
        key, file = "ssl.truststore.certificates", _kept(inline)
    elif location:
        key, file = f"ssl.truststore.location = {location}", _pem_of(location, properties)
    else:
        return {}
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as error:
        raise PropertiesError(f"{key}: there is no certificate that can be read") from error
    return {"ssl_cafile": file}


def _pem_of(location: str, properties: Mapping[str, str]) -> str:
    if _PEM in _content("ssl.truststore.location", location):
        return location
    try:
        said = _listed(location, properties.get("ssl.truststore.password"))
    except JavaMissingError as error:
        raise PropertiesError(
            f"ssl.truststore.location = {location}: Java, which reads such a file, is missing: install it, or "
            f"where it is run keytool -list -rfc -keystore {location} > ca.pem and give ca.pem"
        ) from error
    # Of a private key's certificates Java trusts the first.
    found = [one["pem"] for one in _CERTIFICATE.finditer(said) if one["place"] in {None, "1"}]
    if found:
        return _kept("".join(found))
    why = re.search(r"Exception: (.*)", said)
    missing = (
        "without ssl.truststore.password " if "ssl.truststore.password" not in properties else ""
    )
    raise PropertiesError(
        f"ssl.truststore.location = {location}: "
        + (why[1] if why else f"it shows no certificate {missing}to keytool")
    )


def _listed(store: str, password: str | None) -> str:
    """What keytool says of a store; without a password it asks for one, and goes on when it gets none."""
    by_password = [] if password is None else ["-storepass:env", _PASSWORD]
    command = [java("keytool"), "-J-Duser.language=en", "-list", "-rfc", "-keystore", store]
    done = subprocess.run(  # noqa: S603 - Java's own program
        [*command, *by_password],
        env={**os.environ, _PASSWORD: password or ""},
        input="\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        timeout=_KEYTOOL_TIMEOUT_S,
        check=False,
    )
    return done.stdout


def _key(properties: Mapping[str, str]) -> dict[str, Any]:
    """A private key stays in its file: nothing of it is written anywhere."""
    if "ssl.keystore.key" in properties:
        raise PropertiesError(
            "ssl.keystore.key: kafka-python reads a key from a file: write it and ssl.keystore.certificate.chain to one, "
            "and give that as ssl.keystore.location"
        )
    location = properties.get("ssl.keystore.location")
    if not location:
        return {}
    content = _content("ssl.keystore.location", location)
    if _PEM not in content:
        raise PropertiesError(
            f"ssl.keystore.location = {location}: kafka-python reads PEM: run {_conversion(location, content)} and give "
            "key.pem"
        )
    password = properties.get("ssl.key.password")
    try:
        # With a password that is none, a key that needs one is refused instead of asked about at the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(location, password=password or "")
    except (OSError, ValueError) as error:
        raise PropertiesError(
            f"ssl.keystore.location = {location}: there is no key with its certificates that ssl.key.password opens"
        ) from error
    return {"ssl_certfile": location, "ssl_keyfile": location, "ssl_password": password}


def _conversion(location: str, content: bytes) -> str:
    to_pem = "openssl pkcs12 -nodes -out key.pem -in"
    if not content.startswith(_JKS):
        return f"{to_pem} {location}"
    to_pkcs12 = "-destkeystore key.p12 -deststoretype PKCS12"
    return f"keytool -importkeystore -srckeystore {location} {to_pkcs12}, then {to_pem} key.p12,"


def _content(key: str, location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise PropertiesError(f"{key} = {location}: {error.strerror}") from error


def _kept(certificates: str) -> str:
    """A file with these certificates, which are no secret, until this program ends."""
    file = Path(_folder().name, sha256(certificates.encode()).hexdigest()).with_suffix(".pem")
    file.write_text(certificates, encoding="utf-8")
    return str(file)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="group-coordinator-trust-")
