"""Conversion of the login in Kafka's client properties to options of kafka-python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from group_coordinator.cli.client_properties.file import PropertiesError
from group_coordinator.clients.cluster.token_provider import TokenProvider
from group_coordinator.codecs import jaas
from group_coordinator.security import Mechanism, Protocol, Secret, Security

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
    """Return options of kafka-python for the login. The settings may have a part of the login.

    Raises:
        PropertiesError: the message names the property.
    """
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
