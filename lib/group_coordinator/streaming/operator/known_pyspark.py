"""The versions of PySpark that the lean exchange was tested with, by a digest of the sources that it replaces and relies on.

A platform's own PySpark may have any number. `python -m tests.sparks` tries the lean exchange with each version.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Literal

SEEN = MappingProxyType(
    {
        "ccd68c1004036c87": "4.0.4",
        "3d95be74e6c61327": "4.0.5",
        "0f09164cd3799cc7": "4.1.4",
        "cc0e4fc157b96b9e": "4.2.0",
        "ccf6b92598f7b4e0": "4.3.0",
    }
)
"""Digest -> its version of PySpark."""

_SERIALIZERS, _WORKER = "pyspark.sql.pandas.serializers", "pyspark.worker"
_STATE = {"pyspark.sql.streaming.state": ("GroupState",)}
_UNTIL_4_2 = {
    _SERIALIZERS: ("ApplyInPandasWithStateSerializer", "ArrowStreamSerializer"),
    **_STATE,
    _WORKER: ("main",),
}
_SINCE_4_3 = {
    _SERIALIZERS: ("ArrowStreamSerializer",),
    **_STATE,
    _WORKER: ("read_single_udf", "read_udfs", "invoke_udf"),
}
# Modules -> their classes and functions. They are read and not imported: only a worker needs all of them.
_RELIED_ON = (_UNTIL_4_2, _SINCE_4_3)

_DIGITS = 16

Wanted = Literal["auto", "stock", "lean"]
Exchange = Literal["stock", "lean"]


class UnknownPySparkError(Exception):
    """The lean exchange is required, and was not tested with a worker's PySpark. The message names the digest."""


def chosen(wanted: Wanted, found: str | None) -> Exchange:
    """Return the exchange of a worker with this digest.

    Raises UnknownPySparkError: `lean` is required, and the digest is unknown.
    """
    # An unknown PySpark gets the stock exchange, which is slower but always right.
    if wanted == "stock" or (wanted == "auto" and found not in SEEN):
        return "stock"
    if found not in SEEN:
        raise UnknownPySparkError(
            f"exchange = lean: the lean exchange is not tested with the PySpark of the workers (sources {found}), "
            f"only with {', '.join(SEEN.values())}: set exchange = auto, which uses the stock exchange there"
        )
    return "lean"


@cache
def digest_here() -> str | None:
    """Return the digest of the sources in this process; None if a source cannot be read."""
    return digest({module: _source(module) for module in _UNTIL_4_2})


def digest(sources: Mapping[str, str]) -> str | None:
    """Return the digest of the modules' relevant sources, by module name. The rest of a module makes no difference."""
    defined = {module: _definitions(source) for module, source in sources.items()}
    for relied_on in _RELIED_ON:
        if all(defined[module].keys() >= {*names} for module, names in relied_on.items()):
            parts = (defined[module][name] for module, names in relied_on.items() for name in names)
            return sha256("\n".join(parts).encode()).hexdigest()[:_DIGITS]
    return None


def _source(module: str) -> str:
    # A module may be missing, or exist only in compiled form: its source is then empty.
    spec: Any = find_spec(module)
    return (spec.loader.get_source(module) if spec else None) or ""


def _definitions(source: str) -> dict[str, str]:
    # ast.get_source_segment would split the source for each definition, which takes a tenth of a second.
    lines = source.split("\n")
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
