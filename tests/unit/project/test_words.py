"""Words that make sentences unclear: their rates in docstrings, messages and pages (CONTRIBUTING, "How we write")."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = sorted(path for room in ("lib", "jobs") for path in (ROOT / room).rglob("*.py"))
PAGES = sorted(
    [
        ROOT / "README.md",
        *(
            page
            for room in (".github", "conf", "deploy", "jobs", "lib", "notebooks", "tests")
            for page in (ROOT / room).rglob("*.md")
        ),
    ]
)
PRONOUNS = ("what", "who", "whom", "whose", "where", "whether", "those", "it", "its", "they")
FIRST_WORDS = frozenset([*PRONOUNS, "as", "of", "how"])
BANNED = (
    *("anew", "somebody", "nobody", "anybody", "whoever", "of ours"),
    *("told", "tells", "beside", "by and by", "so it is with"),
)
UNCLEAR = {
    "what": re.compile(r"\bwhat\b", re.IGNORECASE),
    # "A user who ..." is clear; a "who" without its noun is not.
    "who": re.compile(r"(?:^|[.,;:(] *)who\b", re.IGNORECASE),
    "one": re.compile(r"\bones?\b", re.IGNORECASE),
    "banned": re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE),
}
RARE = {"what": 2.0, "who": 0.2, "one": 4.0, "banned": 0.0}
LIMITS = {
    "docstrings": RARE,
    # Some are Kafka's own: "Option [describe] takes at most one of these options".
    "messages": RARE | {"one": 9.0},
    "pages": RARE,
}
"""Hits in 1,000 words. A limit may only be lowered."""
CODE = re.compile(r"```.*?```|`[^`]*`|\$ .*", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s")


@cache
def trees() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES
    }


@cache
def docstrings() -> list[tuple[str, str]]:
    nodes = [(name, node) for name, tree in trees().items() for node in ast.walk(tree)]
    return [
        (f"{name}:{getattr(node, 'lineno', 1)}", text)
        for name, node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node))
    ]


def messages() -> Iterator[tuple[str, str]]:
    """Texts of raised and of logged sentences, without the values in them."""
    for name, tree in trees().items():
        for node in ast.walk(tree):
            said = node.exc if isinstance(node, ast.Raise) else node
            if not isinstance(said, ast.Call) or (said is node and not is_log(said)):
                continue
            for part in [part for argument in said.args for part in ast.walk(argument)]:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield f"{name}:{part.lineno}", part.value


def is_log(call: ast.Call) -> bool:
    logger = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(logger, ast.Name) and logger.id == "_log"


def pages() -> Iterator[tuple[str, str]]:
    for path in PAGES:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


KINDS = {"docstrings": docstrings, "messages": messages, "pages": pages}


@pytest.mark.parametrize("kind", KINDS)
def test_unclear_words_are_rare(kind: str) -> None:
    texts = [(place, CODE.sub("x", text)) for place, text in KINDS[kind]()]
    words = sum(len(text.split()) for _, text in texts)
    hits: dict[str, list[str]] = {name: [] for name in UNCLEAR}
    for place, text in texts:
        for sentence in SENTENCE.split(text):
            for name, pattern in UNCLEAR.items():
                # A question may begin with "what".
                if pattern.search(sentence) and not sentence.endswith("?"):
                    hits[name] += [f"{place}: {sentence}"] * len(pattern.findall(sentence))

    assert words > 3_000
    too_many = {
        name: places
        for name, places in hits.items()
        if len(places) * 1_000 > LIMITS[kind][name] * words
    }
    assert too_many == {}


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    first = [
        f"{place}: {text.splitlines()[0]}"
        for place, text in docstrings()
        if text.split()[0].strip(",.:").lower() in FIRST_WORDS
    ]

    assert len(first) <= 60, "\n".join(first)


def test_docstrings_say_more_than_the_name() -> None:
    short = [f"{place}: {text}" for place, text in docstrings() if len(text.split()) <= 4]

    assert len(short) <= 40, "\n".join(short)
