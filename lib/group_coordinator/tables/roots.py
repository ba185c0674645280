"""Kinds of a tables' root, by its text. Imports no module of Spark."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

URL = re.compile(r"[A-Za-z][\w+.-]*:")
"""Prefix of a location that is no path of this machine, except file:."""


def is_folder(root: str) -> bool:
    """Return True for a folder, or the URL of a folder: it has a slash or a scheme. Otherwise it is a catalog's schema."""
    return "/" in root or URL.match(root) is not None


def is_url_elsewhere(location: str) -> bool:
    return URL.match(location) is not None and not location.startswith("file:")


def is_on_s3(location: str) -> bool:
    return urlsplit(location).scheme == "s3a"
