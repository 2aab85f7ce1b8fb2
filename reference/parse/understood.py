"""Every clause and flag of a statement is understood or refused: none is passed over in silence.

sqlglot keeps `NOT LIKE` as LIKE with a flag. A reader that does not look at a flag reads the
opposite, so each kind of node has a list of the parts that its reader here looks at.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

ALWAYS = frozenset({"this", "expression", "expressions"})
# of no meaning here: how the words were spelled, or what follows from the types
SPELLING = frozenset(
    {"big_int", "typed", "safe", "nested", "quoted", "is_string", "dialect", "ensure_list"}
    | {"is_left_assoc", "bracket_notation", "supports_first_value", "is_nvl", "zone", "copy"}
)
PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    kind: frozenset(parts.split())
    for kind, parts in {
        exp.Select: "with_ from_ joins laterals where group having qualify order limit offset "
        "distinct windows hint",
        exp.SetOperation: "with_ distinct order limit offset",
        exp.Subquery: "alias with_ joins order limit offset",
        exp.Table: "alias joins laterals",
        exp.Values: "alias",
        exp.Unnest: "alias",
        exp.Lateral: "alias outer view",
        exp.Join: "on using side kind method",
        exp.CTE: "alias materialized",
        exp.Alias: "alias",
        exp.With: "recursive",
        exp.Group: "rollup cube grouping_sets",
        exp.Ordered: "desc nulls_first",
        exp.Distinct: "on",
        exp.Window: "partition_by order spec over alias",
        exp.WindowSpec: "kind start start_side end end_side",
        exp.Column: "table",
        exp.In: "query",
        exp.Like: "negate",
        exp.ILike: "negate",
        exp.Is: "negate",
        exp.Between: "low high",
        exp.Case: "ifs default",
        exp.If: "true false",
        exp.Cast: "to",
        exp.Concat: "coalesce",
        exp.Substring: "start length",
        exp.Trim: "position",
        exp.Round: "decimals",
        exp.Replace: "replacement",
        exp.StrPosition: "substr",
        exp.DateTrunc: "unit",
        exp.TimestampTrunc: "unit",
        exp.DateAdd: "unit",
        exp.DateSub: "unit",
        exp.TimestampAdd: "unit",
        exp.TimestampDiff: "unit",
        exp.DateDiff: "unit date_part_boundary",
        exp.TsOrDsAdd: "unit",
        exp.Interval: "unit",
        exp.GenerateSeries: "start end step is_end_exclusive",
        exp.ExplodingGenerateSeries: "start end step",
        exp.Quantile: "quantile",
        exp.Limit: "offset",
        exp.Fetch: "direction count limit_options",
        exp.LimitOptions: "rows percent with_ties",
        exp.ArrayAgg: "nulls_excluded",
        exp.Greatest: "ignore_nulls",
        exp.Least: "ignore_nulls",
        exp.Translate: "from_ to",
        exp.Star: "except_",
        exp.Lag: "offset default",
        exp.Lead: "offset default",
    }.items()
}


def not_understood(node: exp.Expr) -> str:
    """A part of the node that no reader looks at; empty when there is none.

    >>> import sqlglot
    >>> not_understood(sqlglot.parse_one("SELECT a FROM t FOR UPDATE"))
    'locks'
    """
    known = ALWAYS | SPELLING
    for kind in type(node).__mro__:
        known |= PARTS.get(kind, frozenset())
    return next((part for part, value in node.args.items() if value and part not in known), "")


def first_not_understood(statement: exp.Expr) -> tuple[exp.Expr, str] | None:
    """The first node of a statement of which a part is not understood, and the part."""
    for node in statement.walk():
        if isinstance(node, exp.Create | exp.Drop | exp.DataType | exp.Identifier | exp.TableAlias):
            continue
        if part := not_understood(node):
            return node, part
    return None
