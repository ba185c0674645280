"""The class whose methods PySpark calls in a task of applyInPandasWithState."""

from __future__ import annotations

from typing import Any

from pyspark.sql.pandas import serializers


def task_serializer() -> Any:
    """As the installed PySpark has it: 4.3 has a general one only."""
    until_4_2 = getattr(serializers, "ApplyInPandasWithStateSerializer", None)
    return until_4_2 or serializers.ArrowStreamSerializer
