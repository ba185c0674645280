"""Tick (our own event): it only moves the group's clock, and has no response."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, json

from group_coordinator.codecs.apis.api import ApiCodec, Body
from group_coordinator.codecs.fields import Text
from group_coordinator.core.model import requests


class TickBody(Body):
    group_id: Text | UnsetType = UNSET
    basis_id: Text | UnsetType = UNSET
    """The basis of the next responses, for gateways (runtime/basis.py)."""


def _to_request(body: TickBody, _version: int) -> requests.Tick:
    return requests.Tick(body.group_id or "")


CODEC = ApiCodec(range(1), json.Decoder(TickBody), _to_request, None)
