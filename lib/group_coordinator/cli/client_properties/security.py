"""Conversion of the TLS and login properties of Kafka's clients to options of kafka-python, which reads PEM files only."""

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
from typing import Any, Final, get_args

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.clients.cluster.connection import TLS_VERSIONS
from group_coordinator.clients.cluster.token_provider import TokenProvider
from group_coordinator.codecs import jaas
from group_coordinator.local.jars import JavaMissingError, java
from group_coordinator.security import Mechanism, Protocol, Secret, Security

USED_BY_TLS: Final = frozenset(
    (
        *("ssl.endpoint.identification.algorithm", "ssl.enabled.protocols"),
        "ssl.truststore.certificates",
        *("ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type"),
        *("ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type"),
        *("ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.key.password"),
    )
)
"""Properties of `tls_options`. The content decides the type of a store: Java too reads JKS and PKCS12 under either type."""

_PEM, _JKS = b"-----BEGIN ", b"\xfe\xed\xfe\xed"
_CERTIFICATE = re.compile(
    r"(?:Certificate\[(?P<place>\d+)\]:\s+)?"
    r"(?P<pem>-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n)",
    re.DOTALL,
)
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_VERSIONS_OFF = ("SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1")
"""Versions that Java knows, but does not use by default, whatever the property has."""
_PASSWORD = "STORE_PASSWORD"  # noqa: S105 - the name of a variable
_KEYTOOL_TIMEOUT_S = 60


def tls_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return options of kafka-python for TLS; none where `security.protocol` has no TLS. PropertiesErrors have the remedy."""
    if not properties.get("security.protocol", "SSL").upper().endswith("SSL"):
        return {}
    return {
        **_host_name_check(properties),
        **_versions(properties),
        **_authorities(properties),
        **_key(properties),
    }


def is_pem(file: str) -> bool:
    """Return True if the file exists and is PEM."""
    path = Path(file)
    return path.is_file() and _PEM in path.read_bytes()


def _versions(properties: Mapping[str, str]) -> dict[str, Any]:
    key = "ssl.enabled.protocols"
    if key not in properties:
        return {}
    names = [name.strip() for name in properties[key].split(",")]
    versions = sorted(_VERSIONS[name] for name in names if name in _VERSIONS)
    if not versions or not {*_VERSIONS, *_VERSIONS_OFF}.issuperset(names):
        raise PropertiesError(
            f"{key} = {properties[key]} is not valid: set TLSv1.2, TLSv1.3, or both with a comma between them"
        )
    return {TLS_VERSIONS: (versions[0], versions[-1])}


def _host_name_check(properties: Mapping[str, str]) -> dict[str, Any]:
    key = "ssl.endpoint.identification.algorithm"
    algorithm = properties.get(key)
    if algorithm is None:
        return {}
    if algorithm.lower() not in {"", "https"}:
        raise PropertiesError(
            f"{key} = {algorithm} is not valid: set https, or an empty value, which checks no host name"
        )
    is_checked = {"ssl_check_hostname": algorithm != ""}
    # The same option under kafka-python's name.
    other = properties.get("ssl.check.hostname")
    if other is not None and (other.lower() == "true") != is_checked["ssl_check_hostname"]:
        raise PropertiesError(
            f"{key} = {algorithm} contradicts ssl.check.hostname = {other}: remove one of them"
        )
    return is_checked


def _authorities(properties: Mapping[str, str]) -> dict[str, Any]:
    for key in ("ssl.truststore.certificates", "ssl.truststore.location"):
        if properties.get(key) == "":
            # Java fails too: a variable without a value must not trust every authority of the machine.
            raise PropertiesError(
                f"{key} is empty: set it, or remove it to trust the machine's own authorities"
            )
    inline = properties.get("ssl.truststore.certificates")
    location = properties.get("ssl.truststore.location")
    if inline:
        key, file = "ssl.truststore.certificates", _kept(inline)
    elif location:
        key, file = f"ssl.truststore.location = {location}", _pem_of(location, properties)
    else:
        return {}
    try:
        # Loaded here only for a clear error: kafka-python would fail at the connect.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as error:
        raise PropertiesError(f"{key}: the file has no readable certificate") from error
    return {"ssl_cafile": file}


def _pem_of(location: str, properties: Mapping[str, str]) -> str:
    if _PEM in _content("ssl.truststore.location", location):
        return location
    try:
        # Only Java reads JKS, so keytool prints the certificates.
        said = _listed(location, properties.get("ssl.truststore.password"))
    except JavaMissingError as error:
        raise PropertiesError(
            f"ssl.truststore.location = {location} is not PEM, and Java, which would read it, is missing: install "
            f"Java, or run keytool -list -rfc -keystore {location} > ca.pem on a machine with Java and give ca.pem"
        ) from error
    # Java trusts only the first certificate of a private key's chain.
    found = [one["pem"] for one in _CERTIFICATE.finditer(said) if one["place"] in {None, "1"}]
    if found:
        return _kept("".join(found))
    why = re.search(r"Exception: (.*)", said)
    missing = (
        "without ssl.truststore.password " if "ssl.truststore.password" not in properties else ""
    )
    raise PropertiesError(
        f"ssl.truststore.location = {location}: "
        + (why[1] if why else f"keytool finds no certificate {missing}in it")
    )


def _listed(store: str, password: str | None) -> str:
    # Without a password keytool prompts, and continues after an empty line.
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
    if "ssl.keystore.key" in properties:
        raise PropertiesError(
            "ssl.keystore.key is not supported, as kafka-python reads a key from a file: write the key and "
            "ssl.keystore.certificate.chain to a file, and set ssl.keystore.location to that file"
        )
    # The key stays in its own file: no copy of it is written.
    location = properties.get("ssl.keystore.location")
    if not location:
        return {}
    content = _content("ssl.keystore.location", location)
    if _PEM not in content:
        raise PropertiesError(
            f"ssl.keystore.location = {location} is not PEM: run {_conversion(location, content)} and give key.pem"
        )
    password = properties.get("ssl.key.password")
    try:
        # Without a password OpenSSL would prompt at the terminal; with an empty password it fails.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(location, password=password or "")
    except (OSError, ValueError) as error:
        raise PropertiesError(
            f"ssl.keystore.location = {location}: ssl.key.password opens no key with certificates in it; check the password "
            "and that the file has both"
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
    # Certificates are no secrets. The file is deleted at the program's end.
    file = Path(_folder().name, sha256(certificates.encode()).hexdigest()).with_suffix(".pem")
    file.write_text(certificates, encoding="utf-8")
    return str(file)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="group-coordinator-trust-")


_CREDENTIALS = "sasl.oauthbearer.client.credentials.client"
_TOKEN_PROPERTIES = {
    "client_id": f"{_CREDENTIALS}.id",
    "client_secret": f"{_CREDENTIALS}.secret",
    "scope": "sasl.oauthbearer.scope",
}
"""Properties since Kafka 4.1. The older options of the login module still work."""
_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_TOKEN_OPTIONS = {"client_id": "clientId", "client_secret": "clientSecret", "scope": "scope"}
_NAME_AND_PASSWORD = {"username": "sasl_plain_username", "password": "sasl_plain_password"}
_HANDLERS = ("sasl.login.callback.handler.class", "sasl.client.callback.handler.class")
_USUAL_HANDLERS = ("OAuthBearerLoginCallbackHandler", "IAMClientCallbackHandler")
"""Java needs these classes for OAUTHBEARER and AWS_MSK_IAM; kafka-python has the same built in."""
_MECHANISMS = (*get_args(Mechanism), "GSSAPI")
"""GSSAPI needs a Kerberos ticket on the machine. The settings of a job exclude it: nothing renews the ticket."""


def login_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return options of kafka-python for the login. The settings may have a part of the login."""
    options: dict[str, Any] = {}
    if "security.protocol" in properties:
        # Java ignores the case.
        protocol = properties["security.protocol"].upper()
        _check("security.protocol", properties, protocol, get_args(Protocol))
        options["security_protocol"] = protocol
    if "sasl.mechanism" in properties:
        mechanism = properties["sasl.mechanism"]
        _check("sasl.mechanism", properties, mechanism, _MECHANISMS)
        options["sasl_mechanism"] = mechanism
    given = _jaas_options(properties)
    if properties.get("sasl.mechanism") == "OAUTHBEARER":
        return options | _token_options(properties, given)
    return options | {
        name: given[option] for option, name in _NAME_AND_PASSWORD.items() if option in given
    }


def used_by_login(properties: Mapping[str, str]) -> set[str]:
    """Return the properties that `login_options` uses, or that name the built-in behaviour of kafka-python."""
    handlers = {key for key in _HANDLERS if properties.get(key, "").endswith(_USUAL_HANDLERS)}
    used = {"security.protocol", "sasl.mechanism", "sasl.jaas.config", *handlers}
    if properties.get("sasl.mechanism") == "OAUTHBEARER":
        used |= {_ENDPOINT, *_TOKEN_PROPERTIES.values()}
    return used


def unused_by_login(properties: Mapping[str, str]) -> list[str]:
    """Return the options of the login module that have no effect, as parts of a sentence."""
    used = {*_NAME_AND_PASSWORD, *_TOKEN_OPTIONS.values()}
    return [f"{name} in sasl.jaas.config" for name in _jaas_options(properties) if name not in used]


def _check(key: str, properties: Mapping[str, str], value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise PropertiesError(f"{key} = {properties[key]}: it must be one of {', '.join(choices)}")


def _jaas_options(properties: Mapping[str, str]) -> dict[str, str]:
    if "sasl.jaas.config" not in properties:
        return {}
    try:
        return jaas.read(properties["sasl.jaas.config"]).options
    except jaas.JaasError as error:
        raise PropertiesError(f"sasl.jaas.config: {error}") from error


def _token_options(properties: Mapping[str, str], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the token provider, or no option where the settings have the whole login."""
    found = {
        name: properties.get(key, given.get(_TOKEN_OPTIONS[name], ""))
        for name, key in _TOKEN_PROPERTIES.items()
    }
    endpoint = properties.get(_ENDPOINT, "")
    if not endpoint and not any(found.values()):
        return {}
    if not (endpoint and found["client_id"] and found["client_secret"]):
        raise PropertiesError(
            f"sasl.mechanism = OAUTHBEARER needs {_ENDPOINT}, and clientId and clientSecret in sasl.jaas.config"
        )
    security = Security(
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        sasl_username=found["client_id"],
        sasl_password=Secret(found["client_secret"]),
        sasl_oauthbearer_token_endpoint_url=endpoint,
        sasl_oauthbearer_scope=found["scope"],
        ssl_truststore_location="",
        ssl_keystore_location="",
        ssl_key_password=Secret(""),
    )
    return {"sasl_oauth_token_provider": TokenProvider(security)}
