"""Settings from conf/coordinator.toml, which has all defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta, ValidationError, convert

from group_coordinator.codecs.host_and_port import AddressError, broker_list
from group_coordinator.core.model.config import (
    ConfigError,
    CoordinatorConfig,
    NotNegative,
    Positive,
    key_of,
)
from group_coordinator.security import SECRETS, Secret, Security, variable_of

__all__ = ["Settings", "SettingsError", "load"]

DEFAULTS: Traversable = resources.files("group_coordinator") / "conf" / "coordinator.toml"
"""conf/coordinator.toml: a link in the package, a copy in a wheel."""

Text = Annotated[str, Meta(min_length=1)]
PartitionCount = Annotated[int, Meta(ge=1, le=2**31 - 1)]
AclsSource: TypeAlias = Literal["none", "cluster", "file"]
Part = TypeVar("Part")


RECORD_OVERHEAD = 64 * 1024
"""bytes of a Kafka record in addition to its value, the response: its key is a group id, at most 32767 bytes."""


class SettingsError(ValueError):
    """Unknown setting or invalid value; the message names both."""


@dataclass(frozen=True, slots=True)
class JobSettings:
    """Settings of the job and its clients; a field's name is its key with underscores."""

    bootstrap_servers: Text
    cluster_id: Text
    events_topic: Text
    events_topic_partitions: PartitionCount
    events_topic_retention_ms: Positive
    responses_topic: Text
    responses_topic_partitions: PartitionCount
    responses_topic_retention_ms: Positive
    topics_replication_factor: Annotated[int, Meta(ge=1, le=2**15 - 1)]
    request_timeout_ms: Positive
    response_max_bytes: Annotated[int, Meta(ge=1024, le=67108864)]
    tables_root: Text
    checkpoint_location: Text
    trigger_interval_ms: Positive
    idle_interval_ms: NotNegative
    timer_slack_ms: NotNegative
    max_offsets_per_trigger: NotNegative
    shuffle_partitions: NotNegative
    state_store_provider: Literal["rocksdb", "hdfs"]
    exchange: Literal["auto", "stock", "lean"]
    compaction_interval_ms: Positive
    snapshot_interval_ms: NotNegative
    maintenance_interval_ms: NotNegative
    maintenance_new_files: Positive
    history_full_ms: NotNegative
    history_hourly_ms: NotNegative
    topic_metadata_interval_ms: NotNegative
    transactions_markers_interval_ms: NotNegative
    acls_source: AclsSource
    acls_file: str
    acls_interval_ms: Positive
    super_users: str
    allow_everyone_if_no_acl_found: bool
    metrics_listen: str
    metrics_interval_ms: Positive
    metrics_lag_granularity: Literal["none", "group", "topic", "partition"]
    metrics_password_file: str
    metrics_ssl_keystore_location: str
    positions_retention_ms: NotNegative
    positions_full_ms: NotNegative
    mirror_interval_ms: Positive
    mirror_poll_interval_ms: Positive
    mirror_max_offsets_per_trigger: NotNegative
    mirror_positions_interval_ms: NotNegative
    gateway_listen: Text
    gateway_advertised_host: str
    gateway_health_listen: str
    gateway_answers: Literal["job", "replica"]
    gateway_answer_timeout_ms: Positive
    gateway_connections_max_idle_ms: Positive
    gateway_max_connections: Positive
    gateway_max_connections_per_ip: Positive
    gateway_login_timeout_ms: Positive
    gateway_connection_failed_authentication_delay_ms: NotNegative
    gateway_ssl_keystore_location: str
    gateway_ssl_truststore_location: str
    gateway_sasl_oauthbearer_sub_claim_name: Text
    gateway_clients_share_one_user: bool
    gateway_allow_plaintext_passwords: bool
    gateway_metadata_interval_ms: Annotated[int, Meta(ge=100, le=9000)]
    gateway_metadata_lookup_interval_ms: Annotated[int, Meta(ge=100, le=9000)]
    gateway_client_open_max_bytes: Positive
    security: Security


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the state machine and of the job around it. A field's name is its key with underscores."""

    coordinator: CoordinatorConfig
    job: JobSettings


_TYPES: dict[str, Any] = {
    key_of(field): hint
    # CoordinatorConfig checks its own bounds, so no instance with an invalid value exists.
    for part, with_bounds in ((CoordinatorConfig, False), (JobSettings, True), (Security, True))
    for field, hint in get_type_hints(part, include_extras=with_bounds).items()
    if hint is not Security
}


def load(
    path: Path | None = None,
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Read the defaults, a TOML file, secrets of the environment, and `KEY=VALUE` texts; the later wins.

    Raises:
        SettingsError: a key is unknown, a value does not fit, or the file cannot be read.
    """
    values = _read(DEFAULTS)
    if path is not None:
        values |= _read(path)
    # Secrets of the environment override the file, which may be shared.
    values |= _secrets_of(environment)
    values |= dict(_parse(text) for text in overrides)
    try:
        coordinator = _build(CoordinatorConfig, values)
        security = _build(Security, values)
    except ConfigError as error:
        raise SettingsError(str(error)) from error
    return Settings(coordinator, _build(JobSettings, values, security=security))


def keys_given(path: Path | None = None, overrides: Sequence[str] = ()) -> frozenset[str]:
    """Keys with a value in a file or in a `KEY=VALUE` text. Raises SettingsError."""
    in_file = {} if path is None else _read(path)
    return frozenset({*in_file, *(key for key, _ in map(_parse, overrides))})


def secrets_in(path: Path) -> list[str]:
    """Keys of the secrets in a file. Raises SettingsError."""
    return [key for key, value in _read(path).items() if key in SECRETS and value]


def _build(part: type[Part], values: Mapping[str, Any], **built: Any) -> Part:
    names = [field.name for field in fields(cast("Any", part)) if field.name not in built]
    return part(**{name: values[key_of(name)] for name in names}, **built)


def _secrets_of(environment: Mapping[str, str]) -> dict[str, Secret]:
    # A command line or a file may be readable for other users.
    found = {key: environment.get(variable_of(key), "") for key in SECRETS}
    return {key: Secret(value) for key, value in found.items() if value}


def _read(file: Traversable) -> dict[str, Any]:
    try:
        pairs = [*_flat(tomllib.loads(_bytes_of(file).decode("utf-8-sig")))]
    except (OSError, RecursionError, ValueError) as error:
        way_out = next((way for said, way in _WAYS_OUT.items() if said in str(error)), "")
        raise SettingsError(f"{file}: {error}{way_out}") from error
    values = {key: _convert(key, value) for key, value in pairs}
    if len(values) < len(pairs):
        raise SettingsError(
            f"{file}: a key is there with quotes and without: remove one of the lines"
        )
    return values


def _bytes_of(file: Traversable) -> bytes:
    with file.open("rb") as opened:
        # A pipe would be empty the second time: a run reads its settings again, also in other processes.
        if not file.is_file():
            raise ValueError("is no regular file: write the settings to one")
        text = opened.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise ValueError(f"has more than {_MOST_BYTES} bytes: give a file of settings alone")
    return text


_MOST_BYTES = 1024 * 1024
_WAYS_OUT = {
    # TOML reads a dotted key as a value in tables, and a table cannot be a value too.
    "overwrite": ': give each key once, and quote a key that begins another one, such as "events.topic"',
    "codec": ": save the file as UTF-8",
}
"""Ways out by a word of an error's message."""


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys, which TOML nests, and quoted keys alike."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _parse(override: str) -> tuple[str, Any]:
    key, equals, value = override.partition("=")
    if not (equals and key.strip()):
        # A user who forgets the sign may have typed a secret after the key.
        shown = next((key for key in SECRETS if override.strip().startswith(key)), override)
        raise SettingsError(f"{shown!r} is not KEY=VALUE")
    return key.strip(), _convert(key.strip(), value.strip())


def _convert(key: str, value: object) -> Any:
    wanted = _type_of(key)
    if wanted is Secret:
        return _secret(key, value)
    if wanted is bool:
        return _truth(key, value)
    if key == "security.protocol" and isinstance(value, str):
        value = value.upper()  # as in Kafka
    try:
        converted = convert(value, wanted, strict=False)
        return broker_list(converted) if key == "bootstrap.servers" else converted
    except AddressError as error:
        raise SettingsError(f"{key} = {value}: {error}") from error
    except ValidationError as error:
        choices = ", ".join(get_args(wanted)) if get_origin(wanted) is Literal else ""
        why = f"Expected one of {choices}" if choices else str(error)
        raise SettingsError(f"{key} = {value}: {why}") from error


def _truth(key: str, value: object) -> bool:
    # As in Kafka, only these words count: 1 or yes might mean the opposite.
    text = str(value).strip().lower()
    if text not in {"true", "false"}:
        raise SettingsError(f"{key} = {value}: Expected true or false")
    return text == "true"


def _secret(key: str, value: object) -> Secret:
    if not isinstance(value, str):
        raise SettingsError(f"{key} = ***: Expected `str`")
    return Secret(value)


def _type_of(key: str) -> Any:
    if key not in _TYPES:
        nearest = get_close_matches(key, _TYPES, n=1)
        way_out = f"did you mean {nearest[0]}?" if nearest else "conf/coordinator.toml has them all"
        raise SettingsError(f"{key} is not a setting; {way_out}")
    return _TYPES[key]
