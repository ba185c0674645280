"""The PySparks that the lean exchange was seen to work with.

They are told by the sources of what it takes the place of and relies on, not by the version that they say: a platform's
own PySpark may say any. `python -m tests.sparks` tries the lean exchange with each of them.
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
"""Digest -> the version that has it."""

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
_RELIED_ON = (_UNTIL_4_2, _SINCE_4_3)
"""Each: module -> its classes and functions. They are read and not imported: only a worker has a use for all of them."""

_DIGITS = 16

Wanted = Literal["auto", "stock", "lean"]
Exchange = Literal["stock", "lean"]


class UnknownPySparkError(Exception):
    """The lean exchange is wanted, and was not seen to work with a worker's PySpark; the message says so."""


def chosen(wanted: Wanted, found: str | None) -> Exchange:
    """The exchange of a worker in which this digest was found.

    Raises:
        UnknownPySparkError: `lean` is wanted, and the digest is not known.
    """
    if wanted == "stock" or (wanted == "auto" and found not in SEEN):
        return "stock"
    if found not in SEEN:
        raise UnknownPySparkError(
            f"exchange = lean: the lean exchange was not seen to work with the PySpark of the workers (sources {found}) "
            f"but with {', '.join(SEEN.values())}: exchange = auto takes the stock one there"
        )
    return "lean"


@cache
def digest_here() -> str | None:
    """Of the sources that this process has; None where something of them is not there to be read."""
    return digest({module: _source(module) for module in _UNTIL_4_2})


def digest(sources: Mapping[str, str]) -> str | None:
    """Of the modules' sources, by their names; whatever else is in a module makes no difference."""
    defined = {module: _definitions(source) for module, source in sources.items()}
    for relied_on in _RELIED_ON:
        if all(defined[module].keys() >= {*names} for module, names in relied_on.items()):
            parts = (defined[module][name] for module, names in relied_on.items() for name in names)
            return sha256("\n".join(parts).encode()).hexdigest()[:_DIGITS]
    return None


def _source(module: str) -> str:
    """Empty where there is none: a module may be missing, or there in its compiled form alone."""
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
