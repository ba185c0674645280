"""Logs of the commands while they run: short lines on standard error."""

from __future__ import annotations

import logging

# Loggers of every attempt to connect, and of every exception on its way to Java; the final error is raised anyway.
_TOLD_BY_ERRORS = ("kafka.net.", "py4j.")
# Messages of kafka.cluster: twenty lines a second during an outage, among which ours would be lost.
_EACH_ATTEMPT = ("No node available for metadata refresh", "Metadata refresh: failed")


def set_up_logs() -> None:
    """Log our own information, and warnings of libraries."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S"
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_worth_a_line)
    logging.getLogger("group_coordinator").setLevel(logging.INFO)


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    if record.name.startswith(_TOLD_BY_ERRORS):
        return False
    return not (record.name == "kafka.cluster" and str(record.msg).startswith(_EACH_ATTEMPT))
