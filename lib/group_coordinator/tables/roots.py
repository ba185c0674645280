"""What a tables' root is, by the way it is written; it imports nothing of Spark."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

URL = re.compile(r"[A-Za-z][\w+.-]*:")
"""How a location begins that is no path of this machine, unless it is file:."""


def is_folder(root: str) -> bool:
    """Whether a root is a folder, or the URL of one: it has a slash or a scheme. Otherwise it is a catalog's schema."""
    return "/" in root or URL.match(root) is not None


def is_url_elsewhere(location: str) -> bool:
    """Whether a location has a scheme, and another one than that of this machine's disk."""
    return URL.match(location) is not None and not location.startswith("file:")


def is_on_s3(location: str) -> bool:
    """Whether a location is on S3, as Spark's Hadoop calls it."""
    return urlsplit(location).scheme == "s3a"
