"""What the deltalake package and its storage say of a failure, as a sentence."""

from __future__ import annotations

import re

_CAUSE = re.compile(r"\s*(\x1b\[\d+m)?↳(\x1b\[\d+m)?\s*")
"""What went wrong in a storage stands below what did not work for that reason."""
_BACKTRACE = re.compile(r"\n\s*(?:stack backtrace:|0: ).*", re.DOTALL)
"""Where the environment has RUST_BACKTRACE, the calls that led to some errors follow, numbered from 0, a line or two each."""


def in_one_line(error: BaseException) -> str:
    """The message without backtrace, colors and line ends; the name of the error where it says nothing."""
    text = _BACKTRACE.sub("", str(error))
    return " ".join(_CAUSE.sub(": ", text).split()) or type(error).__name__
