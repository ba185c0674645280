"""ReadState (our own): a group's state in base64, and the basis of its responses (runtime/basis.py)."""

from __future__ import annotations

from base64 import b64encode

from msgspec import UNSET, Raw, UnsetType

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import JsonObject, Text
from group_coordinator.core.model.requests import ReadState
from group_coordinator.core.model.responses import ReadStateResponse


class ReadStateBody(Body):
    group_id: Text
    known_basis_id: Text | UnsetType = UNSET


def _to_request(body: ReadStateBody, _version: int) -> ReadState:
    return ReadState(body.group_id, body.known_basis_id or "")


def _to_body(response: ReadStateResponse, _version: int) -> JsonObject:
    group, basis = response.group, response.basis
    return {
        "errorCode": response.error,
        "state": None if group is None else b64encode(snapshots.dump(group)).decode(),
        "basisId": response.basis_id,
        "basis": None if basis is None else Raw(basis),
    }


CODEC = codec(range(1), ReadStateBody, _to_request, ReadStateResponse, _to_body)
