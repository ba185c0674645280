"""Check of SQL: refuses every statement that does more than read the tables and views.

Spark runs a command, such as DROP, as soon as it gets its text; a query may read any file, and run any method or
program on the cluster. So the text goes to Spark's own parser first, which resolves and runs nothing, and every node of
its tree must be in a list of reading plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from group_coordinator.driver.errors import StartUpError

_READING = frozenset(
    {
        *("Aggregate", "Distinct", "Except", "Filter", "Generate", "GlobalLimit", "Intersect", "Join"),
        *("LateralJoin", "LocalLimit", "LocalRelation", "Offset", "OneRowRelation", "Pivot", "Project"),
        *("RepartitionByExpression", "Sample", "Sort", "SubqueryAlias", "Union", "Unpivot"),
        *("UnresolvedHaving", "UnresolvedHint", "UnresolvedInlineTable", "UnresolvedRelation"),
        *("UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases", "UnresolvedTableOrView"),
        *("UnresolvedTableValuedFunction", "UnresolvedWith", "WithWindowDefinition"),
        *("CurrentNamespace", "DescribeColumn", "DescribeQueryCommand", "DescribeRelation"),
        *("ExplainCommand", "PipeOperator", "ShowColumns", "ShowTables"),
    }
)  # fmt: skip
"""Spark's classes of plans that a query may contain."""
_RELATIONS = ("UnresolvedRelation", "UnresolvedTableOrView")
_FUNCTIONS = ("UnresolvedFunction", "UnresolvedTableValuedFunction", "UnresolvedGenerator")
# The package of Spark's own functions; a distribution's, such as Databricks' `secret` and `read_files`, are elsewhere.
_OF_SPARK = "org.apache.spark.sql.catalyst.expressions."
# Own functions that call any method of Java (reflect, java_method), or read a file that an argument or an option names.
_REACHING = (
    *("CallMethodViaReflection", "TryReflect"),
    *("FromAvro", "SchemaOfAvro", "FromProtobuf", "ToProtobuf", "XmlToStructs", "SchemaOfXml"),
)
_PLAN = "org.apache.spark.sql.catalyst.plans.logical.LogicalPlan"
_SEVERAL, _FIELDS = "scala.collection.Iterable", "scala.Product"


def check_query(spark: SparkSession, query: str, known: Iterable[str]) -> None:
    """Refuse a query that does anything but read the tables and views with these names; nothing is run.

    Raises:
        StartUpError: the query is refused; the message names the reason.
        PySparkException: it is no SQL.
    """
    parser = spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001 - PySpark has no public way
    try:
        plan = parser.parsePlan(query)
    except Py4JJavaError as error:  # as of BEGIN ... END, which PySpark has no exception for
        raise StartUpError(error.java_exception.getMessage()) from error
    _Tree(spark).check(plan, frozenset(known))


class _Tree:
    """The parsed tree, walked through all fields of all nodes: a query may be nested in any of them."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm  # noqa: SLF001 - as above
        self._is_instance = jvm.py4j.reflection.TypeUtil.isInstanceOf
        catalyst = jvm.org.apache.spark.sql.catalyst
        self._identifier = catalyst.FunctionIdentifier
        registry = getattr(catalyst.analysis, "FunctionRegistry$")
        self._functions = getattr(registry, "MODULE$").builtin()
        self._kinds: dict[str, str] = {}

    def check(self, plan: JavaObject, names: frozenset[str]) -> None:
        """Check all nodes, without recursion: a chain of ANDs is a deep tree. Names are in lower case."""
        left: list[tuple[Any, frozenset[str]]] = [(plan, names)]
        while left:
            node, names = left.pop()
            if isinstance(node, JavaObject):
                self._check_node(node, names)
                left += self._below(node, names)

    def _check_node(self, node: JavaObject, names: frozenset[str]) -> None:
        name = _class_name(node)
        if self._kind(node) == _PLAN and name not in _READING:
            raise StartUpError(
                f"{name} is not allowed: the tables are read-only; use SELECT, WITH, VALUES, SHOW TABLES, DESCRIBE or "
                "EXPLAIN"
            )
        # IDENTIFIER builds a name at run time, after this check.
        if name == "ExpressionWithUnresolvedIdentifier":
            raise StartUpError("IDENTIFIER(...) is not allowed: write the name itself")
        if name in _RELATIONS:
            self._check_relation(node, names)
        if name in _FUNCTIONS:
            self._check_function(node)

    def _kind(self, node: JavaObject) -> str:
        path = node.getClass().getName()
        if path not in self._kinds:
            kinds = (_PLAN, _SEVERAL, _FIELDS)
            self._kinds[path] = next((kind for kind in kinds if self._is_instance(kind, node)), "")
        return self._kinds[path]

    def _below(
        self, node: JavaObject, names: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        """Yield the fields or elements of a node, each with the names that are known there."""
        parts = [*self._parts(node)]
        if _class_name(node) == "UnresolvedWith":
            yield from self._below_with(parts, names)
        else:
            yield from ((part, names) for part in parts)

    def _parts(self, node: JavaObject) -> Iterator[Any]:
        kind = self._kind(node)
        if kind == _SEVERAL:
            elements = node.iterator()
            while elements.hasNext():
                yield elements.next()
        elif kind:
            for field in range(node.productArity()):
                yield node.productElement(field)

    def _below_with(
        self, parts: list[Any], names: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        # A common table expression is known to the next and to the query, and to itself if it is recursive.
        query, expressions, *is_recursive = parts
        for expression in self._parts(expressions):
            name, text, *_ = self._parts(expression)
            # Spark resolves names without regard to case.
            others, names = names, names | {name.lower()}
            yield text, names if True in is_recursive else others
        yield query, names

    def _check_relation(self, node: JavaObject, names: frozenset[str]) -> None:
        parts = [*self._parts(node.multipartIdentifier())]
        if len(parts) > 1 or parts[0].lower() not in names:
            raise StartUpError(
                f"{'.'.join(parts)} is not allowed: use the tables and views that jobs/reference lists"
            )

    def _check_function(self, node: JavaObject) -> None:
        parts = node.productElement(0)
        name = parts.mkString(".") if self._kind(parts) == _SEVERAL else parts.unquotedString()
        found = self._functions.lookupFunction(self._identifier(name))
        path = found.get().getClassName() if found.isDefined() else ""
        # A user's function may have the name of Spark's, so its class decides.
        is_own = path.startswith(_OF_SPARK) and path.rpartition(".")[2] not in _REACHING
        if not is_own and name.lower() != "range":
            raise StartUpError(
                f"the function {name} is not allowed: use Spark's own functions, except those that call Java or read "
                "files"
            )


def _class_name(node: JavaObject) -> str:
    return str(node.getClass().getName()).rpartition(".")[2].rstrip("$")
