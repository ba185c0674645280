"""A real browser: headless Chromium, told what to do by its DevTools protocol over two pipes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
_FLAGS = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--hide-scrollbars",
    ),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_ERRORS = {"error", "assert"}


def program() -> str | None:
    """The browser of this machine; None: it has none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class BrowserError(Exception):
    """The browser refused, or the page's script threw."""


class Browser:
    """One tab. `errors` has what the page complained of, `requests` the addresses that it asked for, since it was opened."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to = os.fdopen(to_browser, "wb")
        self._from = os.fdopen(from_browser, "rb")
        self._calls = 0
        self._unread = b""
        self._session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def open(self, url: str, *, width: int = 1280, dark: bool = False) -> None:
        """Load a page, and wait until all its charts were tried."""
        self.errors, self.requests = [], []
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=844, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self._call("Page.navigate", url=url)
        self.until(
            "document.readyState === 'complete' && !document.querySelector('.chart:not([data-drawn])')"
        )

    def until(self, condition: str) -> None:
        """Wait for a condition of the page, a minute at most."""
        looking = (
            "new Promise((found, late) => {"
            "const end = Date.now() + 60000;"
            f"(function look() {{ if ({condition}) found(true);"
            f"else if (Date.now() > end) late(new Error({json.dumps('waited for ' + condition)}));"
            "else setTimeout(look, 20); })() })"
        )
        self.ask(looking)

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def picture(self, file: Path) -> None:
        """The whole page as PNG."""
        data = self._call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(b64decode(data))

    def close(self) -> None:
        self._session = None
        self._call("Browser.close")
        self._to.close()
        self._from.close()

    def _call(self, method: str, **params: object) -> dict[str, Any]:
        self._calls += 1
        message: dict[str, object] = {"id": self._calls, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while (found := self._read()).get("id") != self._calls:
            self._note(found.get("method"), found.get("params", {}))
        if "error" in found:
            raise BrowserError(f"{method}: {found['error']}")
        answer: dict[str, Any] = found["result"]
        return answer

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            more = self._from.read1()
            if not more:
                raise BrowserError("the browser has ended")
            self._unread += more
        message, _, self._unread = self._unread.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        match method:
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in _ERRORS:
                self.errors.append(json.dumps(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self.errors.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])


@contextmanager
def started(chromium: str, profile: Path) -> Iterator[Browser]:
    """A browser for the length of the block, with a profile of its own."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    # The protocol has its fixed places: it reads from 3 and writes to 4.
    command = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
    process = subprocess.Popen(  # noqa: S603 - a fixed program
        [  # noqa: S607 - a fixed program
            "bash",
            "-c",
            command,
            chromium,
            *_FLAGS,
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
        ],
        pass_fds=(commands, answers),
        stderr=subprocess.DEVNULL,
    )
    os.close(commands)
    os.close(answers)
    try:
        browser = Browser(to_browser, from_browser)
        yield browser
        browser.close()
        process.wait(10)
    finally:
        process.kill()
        process.wait()
