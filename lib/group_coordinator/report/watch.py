"""Server of the page for a browser on this machine, which keeps the page current."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import NamedTuple

from group_coordinator.codecs.host_and_port import written
from group_coordinator.observability.http_server import Page, http_server, is_own_name


class Texts(NamedTuple):
    page: str
    content: str


class Current:
    """Last texts, which a thread renews and other threads read."""

    def __init__(self, make: Callable[[], Texts]) -> None:
        self._make = make
        self._texts = make()
        self.trouble = ""

    def renew(self) -> None:
        self._texts, self.trouble = self._make(), ""

    def page(self) -> Page:
        return self._shown(self._texts.page)

    def content(self) -> Page:
        return self._shown(self._texts.content)

    def _shown(self, text: str) -> Page:
        # The old page would look current.
        if self.trouble:
            return Page(HTTPStatus.SERVICE_UNAVAILABLE, self.trouble)
        return Page(HTTPStatus.OK, text, "text/html")


@contextmanager
def served(current: Current, host: str, port: int) -> Iterator[str]:
    """Serve the page for the length of the block; yield its address. Raises OSError if the address cannot be used."""
    pages = {"/": current.page, "/content": current.content}
    with http_server((host, port), "report", pages, is_own_name) as number:
        yield f"http://{written(host, number)}/"
