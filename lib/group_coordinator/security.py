"""Login to the Kafka cluster: the same settings for Java's clients and for kafka-python's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_type_hints
from urllib.parse import urlsplit

from group_coordinator.codecs import jaas
from group_coordinator.codecs.host_and_port import is_loopback
from group_coordinator.core.model.config import ConfigError, key_of

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM"]

_KAFKAS, _AMAZONS = "org.apache.kafka.common.security", "software.amazon.msk.auth.iam"
_LOGIN_MODULES: dict[Mechanism, str] = {
    "PLAIN": f"{_KAFKAS}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_KAFKAS}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_KAFKAS}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_KAFKAS}.oauthbearer.OAuthBearerLoginModule",
    "AWS_MSK_IAM": f"{_AMAZONS}.IAMLoginModule",
}
_NAME_AND_PASSWORD = ("sasl_username", "sasl_password")
_ENDPOINT, _SCOPE = "sasl_oauthbearer_token_endpoint_url", "sasl_oauthbearer_scope"
_NEEDED: dict[Mechanism, tuple[str, ...]] = {
    "PLAIN": _NAME_AND_PASSWORD,
    "SCRAM-SHA-256": _NAME_AND_PASSWORD,
    "SCRAM-SHA-512": _NAME_AND_PASSWORD,
    "OAUTHBEARER": (*_NAME_AND_PASSWORD, _ENDPOINT),
    # The machine's own identity logs in: a role, or the AWS environment variables.
    "AWS_MSK_IAM": (),
}
_OPTIONAL: dict[Mechanism, tuple[str, ...]] = {"OAUTHBEARER": (_SCOPE,)}


class Secret(str):
    """Text that logs and errors show as `***`, though any library can use it; `reveal` returns the text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'" if self else "''"

    def __str__(self) -> str:
        return "***" if self else ""

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def reveal(self) -> str:
        # str() would return the hidden form.
        return "".join(self)


@dataclass(frozen=True, slots=True)
class Security:
    """Security settings; a field's name is its key with underscores, an empty text is a setting without a value.

    Files are PEM, which both clients read: a truststore has certificates of authorities, a keystore a private key (PKCS
    8) and its certificates.

    Raises:
        ConfigError: a setting that the protocol needs is missing, or an unused setting has a value, or the token endpoint
            is not reached by TLS.
    """

    security_protocol: Protocol
    sasl_mechanism: Mechanism
    sasl_username: str
    sasl_password: Secret
    sasl_oauthbearer_token_endpoint_url: str
    sasl_oauthbearer_scope: str
    ssl_truststore_location: str
    ssl_keystore_location: str
    ssl_key_password: Secret

    def __post_init__(self) -> None:
        self._check_login()
        self._check_files()

    def _check_login(self) -> None:
        needed = _NEEDED[self.sasl_mechanism] if self._has_login else ()
        for field in needed:
            if not getattr(self, field):
                raise self._missing(field)
        optional = _OPTIONAL.get(self.sasl_mechanism, ()) if self._has_login else ()
        # The password may be in the environment of programs that do not need it.
        for field in ("sasl_username", _ENDPOINT, _SCOPE):
            if getattr(self, field) and field not in (*needed, *optional):
                raise self._unused(field, self._mechanism if self._has_login else self._protocol)
        if self.sasl_oauthbearer_token_endpoint_url:
            _check_endpoint(self.sasl_oauthbearer_token_endpoint_url)
        if self._has_login and self.sasl_mechanism == "AWS_MSK_IAM" and not self._is_encrypted:
            raise ConfigError(
                "sasl.mechanism", self.sasl_mechanism, "needs security.protocol = SASL_SSL"
            )

    def _check_files(self) -> None:
        for field in ("ssl_truststore_location", "ssl_keystore_location"):
            file = getattr(self, field)
            if file and not self._is_encrypted:
                raise self._unused(field, self._protocol)
            if file and not Path(file).is_file():
                raise ConfigError(key_of(field), file, "no such file")

    def java_options(self) -> dict[str, str]:
        options: dict[str, str] = {"security.protocol": self.security_protocol}
        # Passwords go to the JVM as text, so they are revealed here.
        if self._has_login:
            options |= self._java_login()
        if self._is_encrypted and self.ssl_truststore_location:
            options["ssl.truststore.type"] = "PEM"
            options["ssl.truststore.location"] = self.ssl_truststore_location
        if self._is_encrypted and self.ssl_keystore_location:
            options["ssl.keystore.type"] = "PEM"
            options["ssl.keystore.location"] = self.ssl_keystore_location
            if self.ssl_key_password:
                options["ssl.key.password"] = self.ssl_key_password.reveal()
        return options

    def python_options(self) -> dict[str, str]:
        """Keyword arguments of kafka-python's clients; with OAUTHBEARER they lack its token provider."""
        options: dict[str, str] = {"security_protocol": self.security_protocol}
        if self._has_login:
            options["sasl_mechanism"] = self.sasl_mechanism
            if _NEEDED[self.sasl_mechanism] == _NAME_AND_PASSWORD:
                options["sasl_plain_username"] = self.sasl_username
                options["sasl_plain_password"] = self.sasl_password
        if self._is_encrypted and self.ssl_truststore_location:
            options["ssl_cafile"] = self.ssl_truststore_location
        if self._is_encrypted and self.ssl_keystore_location:
            options["ssl_certfile"] = options["ssl_keyfile"] = self.ssl_keystore_location
            if self.ssl_key_password:
                options["ssl_password"] = self.ssl_key_password
        return options

    @property
    def _has_login(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    @property
    def _is_encrypted(self) -> bool:
        return self.security_protocol.endswith("SSL")

    @property
    def _protocol(self) -> str:
        return f"security.protocol = {self.security_protocol}"

    @property
    def _mechanism(self) -> str:
        return f"sasl.mechanism = {self.sasl_mechanism}"

    def _java_login(self) -> dict[str, str]:
        options = {
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.jaas.config": jaas.written(self._login_module()),
        }
        if self.sasl_mechanism == "OAUTHBEARER":
            handler = f"{_KAFKAS}.oauthbearer.OAuthBearerLoginCallbackHandler"
            options["sasl.login.callback.handler.class"] = handler
            options["sasl.oauthbearer.token.endpoint.url"] = (
                self.sasl_oauthbearer_token_endpoint_url
            )
        if self.sasl_mechanism == "AWS_MSK_IAM":
            handler = f"{_AMAZONS}.IAMClientCallbackHandler"
            options["sasl.client.callback.handler.class"] = handler
        return options

    def _login_module(self) -> jaas.LoginModule:
        name, password = self.sasl_username, self.sasl_password.reveal()
        options: dict[str, str] = {}
        if self.sasl_mechanism == "OAUTHBEARER":
            # Kafka 4.1 has properties for these; Spark 4.2 still brings the client of Kafka 3.9.
            options = {"clientId": name, "clientSecret": password}
            if self.sasl_oauthbearer_scope:
                options["scope"] = self.sasl_oauthbearer_scope
        elif _NEEDED[self.sasl_mechanism]:
            options = {"username": name, "password": password}
        return jaas.LoginModule(_LOGIN_MODULES[self.sasl_mechanism], options)

    def _missing(self, field: str) -> ConfigError:
        key = key_of(field)
        variable = f", or the environment variable {variable_of(key)}"
        why = f"needs {key}{variable if key in SECRETS else ''}"
        if field in _NAME_AND_PASSWORD:
            return ConfigError("security.protocol", self.security_protocol, why)
        return ConfigError("sasl.mechanism", self.sasl_mechanism, why)

    def _unused(self, field: str, by: str) -> ConfigError:
        return ConfigError(key_of(field), getattr(self, field), f"{by} does not use it")


def _check_endpoint(url: str) -> None:
    key = key_of(_ENDPOINT)
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    login, _, _ = parts.netloc.rpartition("@")
    if login:
        # The URL of an error message must not show a password.
        shown = url.replace(f"{login}@", "***@")
        raise ConfigError(key, shown, "give name and password as sasl.username and sasl.password")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        why = "the client's secret would be sent without encryption: give an https URL"
        raise ConfigError(key, url, why)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(key, url, "give an https URL")


def variable_of(key: str) -> str:
    return f"GROUP_COORDINATOR_{key.replace('.', '_').upper()}"


SECRETS = tuple(key_of(field) for field, hint in get_type_hints(Security).items() if hint is Secret)
"""Keys of the settings with secrets."""
