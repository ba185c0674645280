"""Modules as processes of their own, run by this Python."""

from __future__ import annotations

import sys


def python_module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module.

    Without -P Python would import click, or any other module, from the current folder first: whoever may write there
    would run code as the user.
    """
    return [sys.executable, "-P", "-m", name, *arguments]
