"""What the commands say while they run: short lines on standard error."""

from __future__ import annotations

import logging

_TOLD_BY_ERRORS = ("kafka.net.", "py4j.")
"""They log every attempt to connect, and every exception on its way to Java; the final error is raised anyway."""


def set_up_logs() -> None:
    """Our own information, and warnings of libraries."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S"
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(lambda record: not record.name.startswith(_TOLD_BY_ERRORS))
    logging.getLogger("group_coordinator").setLevel(logging.INFO)
