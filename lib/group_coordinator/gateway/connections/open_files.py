"""The limit of open files: a connection needs two, and many systems begin with 1,024."""

from __future__ import annotations

import logging
import resource

_MANY = 1 << 20
_KEPT = 256
"""For brokers, tables, logs and the health port."""

_log = logging.getLogger(__name__)


def connections_within_limit(wanted: int) -> int:
    """Return the value of gateway.max.connections, or less where the limit of open files is lower: the health port must still answer."""
    most = raise_open_files()
    if most < wanted:
        _log.warning(
            "gateway.max.connections = %d: the limit of open files is enough for %d: raise it to %d, or lower the setting",
            wanted,
            most,
            2 * wanted + _KEPT,
        )
    return min(most, wanted)


def raise_open_files() -> int:
    """As many as this process may have, up to a million; returns how many connections these are enough for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max((most - _KEPT) // 2, 1)
