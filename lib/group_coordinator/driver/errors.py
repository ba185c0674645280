"""How the job says that it does not run, or not any longer; the commands turn it into an exit status."""

from __future__ import annotations


class JobRefusedError(Exception):
    """A user can mend what keeps the job from its work; the message is one plain sentence that says what."""
