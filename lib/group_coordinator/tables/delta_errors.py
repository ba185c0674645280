"""What the deltalake package and its storage say of a failure, as a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

_CAUSE = re.compile(r"\s*(\x1b\[\d+m)?↳(\x1b\[\d+m)?\s*")
"""What went wrong in a storage stands below what did not work for that reason."""
_BACKTRACE = re.compile(r"\n\s*(?:stack backtrace:|0: ).*", re.DOTALL)
"""Where the environment has RUST_BACKTRACE, the calls that led to some errors follow, numbered from 0, a line or two each."""
_REQUEST_TO_A_STORE = re.compile(
    r"Error performing .*?(?:client error \(Connect\): |<Code>(?P<code>[^<]+)</Code>\s*<Message>(?P<said>[^<]*?)\.?</Message>.*</Error>)",
    re.DOTALL,
)
"""What the package tells of a request to S3, up to what is wrong: the store's answer is a document."""
CURES_OF_S3 = {
    r"NoSuchBucket": "make it, or name another one",
    r"Service: S3, Status Code: 403|SignatureDoesNotMatch|InvalidAccessKeyId|AccessDenied: |loading credentials": "look at the key "
    "(fs.s3a.access.key, or AWS_ACCESS_KEY_ID), and at what it may do in the bucket",
    r"(?s)fs\.s3a\..*(?:ConnectException|UnknownHostException)|S3 error: (?:tcp connect|dns) error": "look at fs.s3a.endpoint, or "
    "AWS_ENDPOINT_URL",
}
"""By what Java, or the deltalake package, says."""


def in_one_line(error: BaseException) -> str:
    """The message without backtrace, colors and line ends; the name of the error where it says nothing."""
    text = _CAUSE.sub(": ", _BACKTRACE.sub("", str(error)))
    said = " ".join(_REQUEST_TO_A_STORE.sub(_answer, text).split()) or type(error).__name__
    return cured(said, said, CURES_OF_S3)


def _answer(request: re.Match[str]) -> str:
    return f"{request['code']}: {request['said']}" if request["code"] else ""


def cured(said: str, failure: str, cures: Mapping[str, str]) -> str:
    """What was said, and the first cure whose pattern is in the whole failure."""
    cure = next((cure for pattern, cure in cures.items() if re.search(pattern, failure)), None)
    return said if cure is None else f"{said}: {cure}"
