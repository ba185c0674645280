"""What the commands say while they run: short lines on standard error."""

from __future__ import annotations

import logging


def set_up_logs() -> None:
    """Our own information, and warnings of everybody else."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S"
    )
    for handler in logging.getLogger().handlers:
        # What goes wrong with a connection it says for each attempt; the end of them all is an error of ours.
        handler.addFilter(lambda record: not record.name.startswith("kafka.net."))
    logging.getLogger("group_coordinator").setLevel(logging.INFO)
