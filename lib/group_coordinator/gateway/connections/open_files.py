"""The limit of open files: a connection needs two, and many systems begin with 1,024."""

from __future__ import annotations

import resource

_MANY = 1 << 20


def raise_open_files() -> None:
    """As many as this process may have, up to a million."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
