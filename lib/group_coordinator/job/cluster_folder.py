"""What the folder of a cluster is called."""

from __future__ import annotations

import re
from hashlib import sha256

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_HASH_DIGITS = 8


def cluster_folder(cluster_id: str) -> str:
    """Its name; of a name that no folder may have, a part and a hash, so that two clusters never share one."""
    if _PLAIN.fullmatch(cluster_id):
        return cluster_id
    plain = "".join(_PLAIN.findall(cluster_id))
    return f"{plain}~{sha256(cluster_id.encode()).hexdigest()[:_HASH_DIGITS]}"
