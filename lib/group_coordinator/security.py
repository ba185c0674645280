"""How to log in to the Kafka cluster: one set of settings, for Java's clients and for kafka-python's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_type_hints

from group_coordinator.core.model.config import ConfigError, key_of

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_JAAS_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r"})


class Secret(str):
    """A text that does not show in a log or an error, though any library can use it; `reveal` returns it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'" if self else "''"

    def __str__(self) -> str:
        return "***" if self else ""

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def reveal(self) -> str:
        """The text itself."""
        return "".join(self)


@dataclass(frozen=True, slots=True)
class Security:
    """The security settings; a field's name is its key with underscores, an empty text is a setting that is not set.

    Files are PEM, which both sides read: a truststore has certificates of authorities, a keystore a private key
    (PKCS 8) and its certificates.

    Raises:
        ConfigError: a setting that the protocol needs is missing, or one is set that it does not use.
    """

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    sasl_username: str
    sasl_password: Secret
    ssl_truststore_location: str
    ssl_keystore_location: str
    ssl_key_password: Secret

    def __post_init__(self) -> None:
        for field in ("sasl_username", "sasl_password"):
            if self._has_login and not getattr(self, field):
                raise self._missing(field)
        if self.sasl_username and not self._has_login:
            raise self._unused("sasl_username")
        for field in ("ssl_truststore_location", "ssl_keystore_location"):
            file = getattr(self, field)
            if file and not self._is_encrypted:
                raise self._unused(field)
            if file and not Path(file).is_file():
                raise ConfigError(key_of(field), file, "no such file")

    def java_options(self) -> dict[str, str]:
        """Properties of Java's clients."""
        options: dict[str, str] = {"security.protocol": self.security_protocol}
        if self._has_login:
            options["sasl.mechanism"] = self.sasl_mechanism
            options["sasl.jaas.config"] = self._jaas_config()
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
        """Keyword arguments of kafka-python's clients."""
        options: dict[str, str] = {"security_protocol": self.security_protocol}
        if self._has_login:
            options["sasl_mechanism"] = self.sasl_mechanism
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

    def _jaas_config(self) -> str:
        user, password = (
            text.translate(_JAAS_ESCAPES)
            for text in (self.sasl_username, self.sasl_password.reveal())
        )
        module = _LOGIN_MODULES[self.sasl_mechanism]
        return f'{module} required username="{user}" password="{password}";'

    def _missing(self, field: str) -> ConfigError:
        key = key_of(field)
        variable = f", or the environment variable {variable_of(key)}"
        why = f"needs {key}{variable if key in SECRETS else ''}"
        return ConfigError("security.protocol", self.security_protocol, why)

    def _unused(self, field: str) -> ConfigError:
        why = f"security.protocol = {self.security_protocol} does not use it"
        return ConfigError(key_of(field), getattr(self, field), why)


def variable_of(key: str) -> str:
    """The environment variable that may hold a secret."""
    return f"GROUP_COORDINATOR_{key.replace('.', '_').upper()}"


SECRETS = tuple(key_of(field) for field, hint in get_type_hints(Security).items() if hint is Secret)
"""The keys of the settings that must not show."""
