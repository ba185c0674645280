"""The public names: jobs/reference/python.md, `__all__` and the docstrings say the same."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from group_coordinator.clients import errors

ROOT = Path(__file__).parents[3]
LIB = ROOT / "lib"
PAGE = (ROOT / "jobs" / "reference" / "python.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(group_coordinator(?:\.[a-z_]+)+)\.([A-Z]\w+|load)`", PAGE)
MODULES = {module for module, _ in NAMED}
PUBLIC = [getattr(import_module(module), name) for module, name in NAMED]
ERRORS = [value for value in vars(errors).values() if inspect.isclass(value)]
IMPORTED_BY_THEIR_PACKAGE = {
    f"group_coordinator.codecs.{name}" for name in ("offsets_topic", "snapshots", "wire")
}
"""Packages of our own whose `__init__.py` has the names that other packages use."""
TIME = re.compile(r"time|interval|duration|backoff")


def methods_of(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    own = [base for base in kind.__mro__ if base.__module__.startswith("group_coordinator")]
    for name, member in [pair for base in own for pair in vars(base).items()]:
        # The function of a property, of a classmethod, and of an operation of the admin clients.
        inner = ("fget", "__func__", "_coroutine")
        found = next((getattr(member, each) for each in inner if hasattr(member, each)), member)
        if inspect.isfunction(found) and (not name.startswith("_") or name == "__init__"):
            yield f"{kind.__name__}.{name}", found


def functions() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Name, function and docstring; `__init__` of a dataclass has the docstring of its class."""
    for value in PUBLIC:
        if not inspect.isclass(value):
            yield value.__name__, value, inspect.getdoc(value) or ""
            continue
        for name, method in methods_of(value):
            of_class = inspect.getdoc(value) if name.endswith("__init__") else ""
            yield name, method, f"{inspect.getdoc(method) or ''}{of_class}"


FUNCTIONS = list(functions())


def parameters(kind: object) -> Iterator[tuple[str, str, str]]:
    """Function, parameter and docstring, for parameters of a type."""
    for name, function, text in FUNCTIONS:
        for parameter, hint in get_type_hints(function).items():
            types = [get_origin(each) or each for each in (hint, *get_args(hint))]
            if kind in types and parameter != "return":
                yield name, parameter, text


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_page_and_the_module_list_the_same_names(module: str) -> None:
    listed = import_module(module).__all__

    assert sorted(listed) == sorted(name for of, name in NAMED if of == module)


def test_no_other_module_lists_names() -> None:
    listing = {
        ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__")
        for path in LIB.rglob("*.py")
        if "\n__all__ = " in path.read_text(encoding="utf-8")
    }

    assert listing == MODULES | IMPORTED_BY_THEIR_PACKAGE


def test_public_classes_and_their_methods_have_docstrings() -> None:
    assert [value.__name__ for value in (*PUBLIC, *ERRORS) if not value.__doc__] == []
    assert [name for name, _, text in FUNCTIONS if not text] == []
    assert len(FUNCTIONS) > 100


def test_a_mapping_is_described_and_a_time_has_its_unit() -> None:
    assert [(name, one) for name, one, text in parameters(Mapping) if one not in text] == []
    times = {one for kind in (int, float) for _, one, _ in parameters(kind) if TIME.search(one)}
    assert [one for one in times if not re.search("_m?s$", one)] == []


def test_the_errors_of_a_docstring_can_be_imported() -> None:
    can_be_caught = {value.__name__ for value in (*PUBLIC, *ERRORS)} | set(vars(builtins))

    named = {
        (name, error)
        for name, _, text in FUNCTIONS
        for error in re.findall(r"(?:^ *|Raises |[.;] )(\w+Error): ", text, re.MULTILINE)
    }

    assert {pair for pair in named if pair[1] not in can_be_caught} == set()


def test_an_error_that_a_method_raises_is_in_its_docstring() -> None:
    raised = [
        (name, ast.unparse(node.exc.func), text)
        for name, function, text in FUNCTIONS
        # A dataclass makes `__init__` without a source.
        if function.__code__.co_filename != "<string>"
        for node in ast.walk(ast.parse(dedent(inspect.getsource(function))))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
    ]

    assert [(name, error) for name, error, text in raised if error not in text] == []
    assert raised
