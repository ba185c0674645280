"""The error by which the job does not start, or ends; the commands turn it into an exit status."""

from __future__ import annotations


class StartUpError(Exception):
    """The job cannot work, and the user can fix the cause. The message is a plain sentence with the cause."""
