"""Parser of `sasl.jaas.config`, a login module with its options, equal to JaasConfig in kafka-clients.

Java reads the text with a StreamTokenizer, whose rules are surprising for a login. A value without quotes begins with a letter
and has only letters, digits and `-_$.`. A slash outside of quotes begins a comment. An octal escape is a character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

_FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_TOKEN = re.compile(
    r"""
    (?>(?:[\x00-\x20]+|/\*.*?(?:\*/|\Z)|//[^\r\n]*|/.?[^\r\n]*)*)   # blanks and comments
    (?:
        (?P<word>[A-Za-z_$\xa0-\U0010ffff][A-Za-z_$\xa0-\U0010ffff0-9.-]*)
        |(?P<quote>["'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\r\n])*)(?:(?P=quote)|(?=[\r\n]))
        |(?P<other>-?(?=[0-9.])[0-9]*\.?[0-9]*|.)
    )?
    """,
    re.VERBOSE | re.DOTALL,
)
"""Blanks and comments, then a token: a word, a quoted text, which ends with its line, a number, or any other character."""
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_QUOTED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r"})


class JaasError(ValueError):
    """The text is not a login module. The message has the fault, but not the text, which has a password."""


class LoginModule(NamedTuple):
    """The name of a Java class, and its options."""

    name: str
    options: dict[str, str]


class _Text(NamedTuple):
    """A word or a quoted text."""

    text: str


_Token: TypeAlias = _Text | str
"""A str is a number or a single character, which is neither a name nor a value."""


def read(text: str) -> LoginModule:
    """Parse a login module; the last value of a repeated option counts. Raises JaasError: Java's clients would reject it too."""
    match [*_tokens(text)]:
        case [_Text(name), _Text(flag), *rest] if flag.upper() in _FLAGS:
            return LoginModule(name, _options(rest))
    raise JaasError('the value must begin with CLASS required and continue with KEY="VALUE"')


def written(module: LoginModule) -> str:
    """Write the module as Java reads it."""
    options = (f' {key}="{value.translate(_QUOTED)}"' for key, value in module.options.items())
    return f"{module.name} required{''.join(options)};"


def _options(tokens: Sequence[_Token]) -> dict[str, str]:
    options: dict[str, str] = {}
    while tokens and tokens[0] != ";":
        match tokens:
            case [_Text(key), "=", _Text(value), *rest]:
                options[key] = value
                tokens = rest
            case [_Text(key), "=", *_]:
                raise JaasError(
                    f'{key} has no value, or a value that needs quotes: write {key}="..."'
                )
            case _:
                # The text itself is not in the message: it may be a part of a password.
                last = next(reversed(options), "required")
                raise JaasError(f'the text after {last} is not KEY="VALUE": correct it')
    if not tokens:
        raise JaasError("the value does not end with a semicolon: add it, or close a quote")
    if len(tokens) > 1:
        raise JaasError("the value has text after the first semicolon: give one login module only")
    return options


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        if found["word"] is not None:
            yield _Text(found["word"])
        elif found["quote"] is not None:
            yield _Text(_ESCAPE.sub(_character, found["quoted"]))
        elif found["other"] is not None:
            yield found["other"]


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    # An octal escape is first: \0 to \7 are not in the table of other escapes.
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)
