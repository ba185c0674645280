"""ApiVersions: the broker's APIs without hidden features, and the group APIs in the job's versions."""

from __future__ import annotations

from typing import Any

from group_coordinator.codecs import wire
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.served import API_VERSIONS, APIS, HIDDEN_FEATURES, ServedApi, Way

_FEATURES = ("supportedFeatures", "finalizedFeatures")


def too_new(correlation_id: int) -> bytes:
    """Response to an unknown version: in version 0, with the range of ApiVersions itself (KIP-511)."""
    entry = _entry(API_VERSIONS, API_VERSIONS.versions[0], API_VERSIONS.versions[-1])
    body = {"errorCode": ErrorCode.UNSUPPORTED_VERSION, "apiKeys": [entry]}
    return wire.response("ApiVersions", 0, correlation_id, body)


def rewritten(version: int, frame: memoryview) -> bytes:
    """Rewrite a broker's response for clients.

    Raises:
        WireError: the response does not parse.
    """
    answered = _version_of(version, frame)
    correlation_id, body = wire.response_body("ApiVersions", answered, frame)
    if body["errorCode"] != ErrorCode.NONE:
        return wire.response("ApiVersions", answered, correlation_id, body)
    body["apiKeys"] = _served([*filter(None, map(_shown, body["apiKeys"]))])
    for features in _FEATURES:
        if features in body:
            body[features] = [f for f in body[features] if f["name"] not in HIDDEN_FEATURES]
    return wire.response("ApiVersions", version, correlation_id, body)


def _version_of(version: int, frame: memoryview) -> int:
    # A broker older than this gateway answers UNSUPPORTED_VERSION, in version 0.
    error_code = int.from_bytes(frame[4:6], signed=True)
    return 0 if error_code == ErrorCode.UNSUPPORTED_VERSION else version


def _shown(entry: dict[str, Any]) -> dict[str, int] | None:
    api = APIS.get(entry["apiKey"])
    if api is None or api.way is Way.GROUPS:
        return None
    # The broker's lowest version stays: an old librdkafka concludes from a higher version of Produce that there is no
    # compression (KAFKA-18659).
    highest = min(entry["maxVersion"], api.versions[-1])
    return _entry(api, entry["minVersion"], highest) if entry["minVersion"] <= highest else None


def _served(of_broker: list[dict[str, int]]) -> list[dict[str, int]]:
    ours = [
        _entry(api, api.versions[0], api.versions[-1])
        for api in APIS.values()
        if api.way is Way.GROUPS
    ]
    return sorted([*of_broker, *ours], key=lambda entry: entry["apiKey"])


def _entry(api: ServedApi, lowest: int, highest: int) -> dict[str, int]:
    return {"apiKey": api.key, "minVersion": lowest, "maxVersion": highest}
