"""`sasl.jaas.config`: a login module with its options, as JaasConfig in kafka-clients reads it.

Java reads the text with a StreamTokenizer, whose rules surprise in a login. A value without quotes begins with a letter,
and has only letters, digits and `-_$.`; a slash outside of quotes begins a comment; an octal escape is a character.
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
"""What is no token, then a word, a text in quotes, which ends with its line, a number, or any other character."""
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_QUOTED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r"})


class JaasError(ValueError):
    """The text is no login module; the message says why, without the text, which has a password."""


class LoginModule(NamedTuple):
    """A class of Java, and what it is told."""

    name: str
    options: dict[str, str]


class _Text(NamedTuple):
    """A word, or what is in quotes."""

    text: str


_Token: TypeAlias = _Text | str
"""A number or another character is a str: no name and no value."""


def read(text: str) -> LoginModule:
    """The login module of the text; of an option that is given twice the last value counts.

    Raises:
        JaasError: Java's clients would refuse it too.
    """
    match [*_tokens(text)]:
        case [_Text(name), _Text(flag), *rest] if flag.upper() in _FLAGS:
            return LoginModule(name, _options(rest))
    raise JaasError('it must begin with CLASS required, and go on with KEY="VALUE"')


def written(module: LoginModule) -> str:
    """The text from which Java reads this module."""
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
                raise JaasError(f'{key} has no value, or one that needs quotes: write {key}="..."')
            case _:
                # It may be a part of a password.
                last = next(reversed(options), "required")
                raise JaasError(f'what comes after {last} is not KEY="VALUE"')
    if not tokens:
        raise JaasError("it must end with a semicolon, behind a text whose quotes are closed")
    if len(tokens) > 1:
        raise JaasError("it must end with its first semicolon: there is one login module")
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
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)
