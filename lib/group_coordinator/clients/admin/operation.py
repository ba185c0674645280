"""Decorator of methods for two clients: each method is written once, as a coroutine.

AsyncioClients have it unchanged. BlockingClients run it to its end: its waits block their thread, so it never yields to
an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class BlockingClient:
    """Client whose operations return their results."""


class AsyncioClient:
    """Client whose operations are coroutines."""


class ClientMethod(Generic[Arguments, Answer]):
    """Decorator of a coroutine in a base class of a blocking and an asyncio client."""

    def __init__(
        self,
        coroutine: Callable[Concatenate[Any, Arguments], Coroutine[Any, Any, Answer]],
    ) -> None:
        self._coroutine = coroutine
        self._blocking = _blocking(coroutine)

    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, client: BlockingClient, owner: type) -> Callable[Arguments, Answer]: ...
    @overload
    def __get__(
        self, client: AsyncioClient, owner: type
    ) -> Callable[Arguments, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, client: object, owner: type) -> Callable[..., Any]:
        # The class of the client decides how its methods wait.
        method = self._blocking if issubclass(owner, BlockingClient) else self._coroutine
        return method if client is None else MethodType(method, client)


def _blocking(coroutine: Callable[..., Coroutine[Any, Any, Answer]]) -> Callable[..., Answer]:
    @wraps(coroutine)
    def method(*arguments: Any, **named: Any) -> Answer:
        # The first step runs to the end, as all waits of a blocking client block.
        running = coroutine(*arguments, **named)
        try:
            running.send(None)
        except StopIteration as end:
            answer: Answer = end.value
            return answer
        # Python warns about a coroutine that is never closed.
        running.close()
        raise AssertionError(
            f"{coroutine.__qualname__} gave way to an event loop that is not there"
        )

    return method
