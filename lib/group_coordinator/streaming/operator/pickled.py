"""The stateful function on its way to the workers, and what a worker decides when a task of it begins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from pyspark import TaskContext

from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming.operator.batch_context import in_this_task, limits_in_this_task
from group_coordinator.streaming.operator.known_pyspark import Wanted, chosen, digest_here
from group_coordinator.streaming.operator.lean_exchange import exchange_leanly
from group_coordinator.streaming.operator.output_rows import OutputRows
from group_coordinator.streaming.operator.worker_process import cheaper_while_there


class PickledFunction:
    """The stateful function as Spark pickles it, without its `rows`; a worker unpickles it at the beginning of every task.

    The exchange is chosen there: the PySpark of a worker need not be the driver's.
    """

    def __init__(
        self, function: Callable[..., Any], context: UpdateContext, exchange: Wanted
    ) -> None:
        self._given = function, context, exchange

    def __call__(self, *arguments: Any) -> NoReturn:
        """Spark asks for a callable; it calls what `__reduce__` makes of it."""
        raise NotImplementedError("a PickledFunction is called in a Python worker only")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, self._given


def _unpickled(
    function: Callable[..., Any], context: UpdateContext, exchange: Wanted
) -> Callable[..., Any]:
    """The function for stock PySpark to call, with the task's rows; with the lean exchange nobody calls it."""
    if TaskContext.get() is None:
        return function
    rows = OutputRows(limits_in_this_task())
    function = partial(function, rows=rows)
    cheaper_while_there(function)
    if chosen(exchange, digest_here()) == "lean":
        exchange_leanly(function, in_this_task(context), rows)
    return function
