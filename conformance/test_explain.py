"""A failure's text is asserted whole: it is what a stranger reads first."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from textwrap import dedent

import pytest

from deltaproof.conformance.adapter import Observed
from deltaproof.conformance.case import Case
from deltaproof.conformance.explain import WIDTH, explain, explain_json
from deltaproof.conformance.judge import Difference, Judge, Oracle
from deltaproof.conformance.shrink import Shrunk, Size
from deltaproof.reference.query import Query, count, table
from deltaproof.reference.zset import ZSet

PEOPLE = table("p", "id BIGINT, a VARCHAR")
COUNTS = PEOPLE.group_by("a").aggregate(n=count())
X, Y = (1, "x"), (2, "x")
RESURRECT = Case(
    COUNTS,
    ({"p": ZSet({X: 1, Y: 1})}, {"p": ZSet({X: -1})}, {"p": ZSet({Y: -1})}, {"p": ZSet({X: 2})}),
    "aggregate.count@resurrect",
)
NEVER_BACK = (ZSet({("x", 2): 1}), ZSet({("x", 1): 1}), ZSet(), ZSet())


def judged(case: Case, observed: list[Observed]) -> Difference:
    found = Judge(case.query.schema).difference(Oracle(case.query).expected(case), observed)
    assert found is not None
    return found


def contents(*read: ZSet) -> list[Observed]:
    return [Observed(each, None) for each in read]


def test_a_failure_is_explained_tick_by_tick() -> None:
    observed = contents(*NEVER_BACK)
    shrunk = Shrunk(RESURRECT, 212, 0.8, Size(9, 31, 88))
    text = explain(
        RESURRECT,
        judged(RESURRECT, observed),
        "my_engine",
        Path("out/5c1e.case.json"),
        [str(shrunk)],
        observed,
    )
    assert text == dedent(
        """\
        FAIL  aggregate.count@resurrect  contents/missing-row  on my_engine

          view      aggregate COUNT(*) AS n BY a
                    └─ p
          sql       SELECT "a", COUNT(*) AS "n" FROM "p" GROUP BY "a"
          tables    p (id BIGINT, a VARCHAR)

          tick   p                     expected   got
          ──────────────────────────────────────────────────────────────────────
             1   +(1, 'x') +(2, 'x')   ('x', 2)   ('x', 2)
             2   -(1, 'x')             ('x', 1)   ('x', 1)
             3   -(2, 'x')             (empty)    (empty)
             4   +(1, 'x')x2           ('x', 2)   (empty)    <- first difference

          missing   ('x', 2)
          note      shrunk 9 ops, 31 ticks, 88 rows -> 1 ops, 4 ticks, 5 rows (0.8 s, 212 tries)
          replay    deltaproof replay out/5c1e.case.json -b my_engine"""
    )


def test_without_observations_the_ticks_before_are_as_expected() -> None:
    text = explain(RESURRECT, judged(RESURRECT, contents(*NEVER_BACK)), "my_engine")
    assert "   3   -(2, 'x')             (empty)    as expected" in text
    assert "   4   +(1, 'x')x2           ('x', 2)   (empty)       <- first difference" in text
    assert text.endswith("deltaproof replay FILE -b my_engine")


def test_a_wrong_delta_is_compared_with_the_expected_change() -> None:
    deltas = (ZSet({("x", 2): 1}), ZSet({("x", 1): 1, ("x", 2): -2}))
    case = Case(COUNTS, RESURRECT.ticks[:2])
    difference = judged(case, [Observed(None, delta) for delta in deltas])
    text = explain(case, difference, "my_engine")
    assert "expected change       got change" in text
    assert "+('x', 1) -('x', 2)   +('x', 1) -('x', 2)x2   <- first difference" in text
    assert "weight    ('x', 2): expected -1, got -2" in text


def test_rows_too_many_are_named_with_their_weights() -> None:
    case = Case(PEOPLE, ({"p": ZSet({X: 1})},))
    text = explain(case, judged(case, contents(ZSet({X: 3, (None, None): 1, (3, "it's"): 2}))), "e")
    assert "extra     (3, 'it''s')x2\n" in text
    assert "extra     (NULL, NULL)\n" in text
    assert "weight    (1, 'x'): expected +1, got +3\n" in text


def test_a_difference_of_types_says_what_came() -> None:
    case = Case(COUNTS, RESURRECT.ticks[:1])
    text = explain(case, judged(case, contents(ZSet({("x", Decimal(2)): 1}))), "my_engine")
    assert "type" in text.splitlines()[0]
    assert "type      column n: expected BIGINT, got Decimal Decimal('2')" in text


def test_rows_that_no_schema_fits_are_explained_too() -> None:
    got = ZSet({("x",): 1, (1, None, (2.0, "y")): 1})
    case = Case(COUNTS, RESURRECT.ticks[:1])
    difference = judged(case, contents(got))
    assert "(1, NULL, [2.0, 'y'])" in explain(case, difference, "my_engine")
    assert [["1", "NULL", "[2.0, 'y']"], 1] in explain_json(case, difference, "e")["got"]


def test_ticks_after_the_first_difference_are_only_counted() -> None:
    case = Case(COUNTS, (*RESURRECT.ticks, *RESURRECT.ticks))
    assert "… and 7 more ticks" in explain(case, judged(case, contents(*[ZSet()] * 8)), "e")
    assert "more tick" not in explain(RESURRECT, judged(RESURRECT, contents(*NEVER_BACK)), "e")


def test_a_restart_is_marked_where_it_happens() -> None:
    case = Case(COUNTS, RESURRECT.ticks, restarts=(3,))
    text = explain(case, judged(case, contents(*NEVER_BACK)), "e")
    assert [line.split()[0] for line in text.splitlines() if "then restart" in line] == ["3"]


def test_a_query_without_words_in_sql_is_shown_as_a_tree_alone() -> None:
    case = Case(PEOPLE.negate(), RESURRECT.ticks[:1])
    text = explain(case, judged(case, contents(ZSet())), "e")
    assert "view      negate\n            └─ p\n  tables" in text
    assert "missing   -(1, 'x')" in text


@pytest.mark.parametrize("width", [1, 3, 8, 40])
def test_no_line_is_wider_than_a_terminal_and_none_has_colours(width: int) -> None:
    case = wide_case(width)
    text = explain(case, judged(case, contents(ZSet(), ZSet())), "my_engine")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "\x1b" not in text
    assert "<- first difference" in text


def wide_case(width: int) -> Case:
    left = table("left_table", "l0 VARCHAR, l1 BIGINT, l2 DATE")
    right = table("right_table", "r0 VARCHAR, r1 BIGINT, r2 DATE")
    query: Query = left.join(right, on={"l0": "r0"}).project("l0", "l1", "r1")
    tick = {
        "left_table": ZSet({("n" * width, n, None): 1 for n in range(3)}),
        "right_table": ZSet({("n" * width, n, None): 1 for n in range(2)}),
    }
    return Case(query, (tick, tick))


def test_of_many_rows_the_first_are_shown_and_the_rest_counted() -> None:
    case = Case(PEOPLE, ({"p": ZSet({(n, "x"): 1 for n in range(1000)})},))
    text = explain(case, judged(case, contents(ZSet())), "my_engine")
    assert "… 988 more" in text
    assert "… and 988 more rows" in text
    assert len(text.splitlines()) < 60


def test_the_json_says_what_the_text_says() -> None:
    observed = contents(*NEVER_BACK)
    difference = judged(RESURRECT, observed)
    found = explain_json(RESURRECT, difference, "my_engine", Path("x.json"), "blame", observed)
    assert json.loads(json.dumps(found)) == found
    assert found["class"] == "contents/missing-row"
    assert found["sql"] == 'SELECT "a", COUNT(*) AS "n" FROM "p" GROUP BY "a"'
    assert found["expected"] == [[["x", 2], 1]]
    assert found["also"] == ["blame"]
    assert found["replay"] == "deltaproof replay x.json -b my_engine"
    assert found["ticks"][3] == {
        "tick": 4,
        "changes": {"p": [[[1, "x"], 2]]},
        "expected": [[["x", 2], 1]],
        "got": [],
        "first_difference": True,
        "restart_after": False,
    }
