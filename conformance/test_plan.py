"""`deltaproof explain` shows the query, the circuit and why each node may do what it does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from deltaproof.conformance.cli import command, run
from deltaproof.reference.plan import plan_of
from deltaproof.reference.query import count, table
from deltaproof.reference.scalar import col

SALES = "sales(fruit VARCHAR, kg BIGINT)"
SELECT = "SELECT fruit, COUNT(*) AS n FROM sales WHERE kg > 3 GROUP BY fruit"


def explained(*words: str, given: str = "") -> Result:
    return CliRunner().invoke(
        command, ["explain", *words], input=given, standalone_mode=False, catch_exceptions=False
    )


def test_every_node_says_its_shape_its_theorem_its_state_and_what_it_needs() -> None:
    said = explained(SELECT, "--table", SALES).output
    for words in ("aggregate COUNT(*) AS n BY fruit", "general", "aggregate_increment", "sales"):
        assert words in said
    assert "aggregate.count" in said
    assert "rows  fruit VARCHAR, n BIGINT NOT NULL" in said


def test_a_subquery_that_is_read_twice_is_one_node() -> None:
    t = table("t", "k BIGINT")
    once = t.distinct()
    plan = plan_of(once.union_all(once.negate()))
    assert [node.label for node in plan.nodes] == ["t", "distinct", "negate", "union_all"]
    assert sum("above" in line for line in plan.lines()) == 1


def test_the_plan_as_json_has_every_node_and_the_sql() -> None:
    plan = json.loads(explained(SELECT, "--table", SALES, "--json").output)
    assert plan["schema"] == "fruit VARCHAR, n BIGINT NOT NULL"
    assert plan["circuit"][0]["operator"] == "table"
    assert "GROUP BY" in plan["sql"]["duckdb"]


def test_sql_prints_the_view_in_a_dialect() -> None:
    assert "GROUP BY" in explained(SELECT, "--table", SALES, "--sql", "sqlite").output


def test_a_select_and_its_tables_may_come_from_files(tmp_path: Path) -> None:
    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE TABLE sales (fruit VARCHAR, kg BIGINT NOT NULL);")
    said = explained("-", "--schema", str(schema), given=SELECT).output
    assert "aggregate COUNT(*) AS n BY fruit" in said


def test_the_picture_is_an_svg_with_a_box_for_every_node(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz", reason="the extra `draw` is not installed")
    picture = tmp_path / "plan.svg"
    explained(SELECT, "--table", SALES, "--svg", str(picture))
    boxes = [g for g in ElementTree.parse(picture).iter() if g.get("class") == "node"]
    assert len(boxes) >= 2


def test_words_of_the_query_do_not_become_markup_of_the_picture() -> None:
    label = 'say "<b>\\N[red]'
    query = table("t", "s VARCHAR").filter(col("s").eq(label)).aggregate(n=count())
    dot = plan_of(query).to_dot()
    assert '\\"<b>' in dot
    assert any("[red]" in line for line in plan_of(query).lines())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([SELECT], "no tables: declare them with --table"),
        ([SELECT, "--table", "sales"], "expected NAME(COLUMN TYPE, …)"),
        ([SELECT, "--table", "sales(fruit)"], "expected a column like"),
        (["SELECT nope FROM sales", "--table", SALES], "nope"),
        (["SELEC", "--table", SALES], "line 1"),
        ([SELECT, "--table", SALES, "--table", "Sales(k BIGINT)"], "two tables are called that"),
        ([SELECT, "--schema", sys.executable], "is no UTF-8 text"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", *words]) == 4
    assert said in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_failure_of_a_backend() -> None:
    words = [sys.executable, "-m", "deltaproof.conformance.cli", "explain", SELECT]
    process = subprocess.Popen(
        [*words, "--table", SALES], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 2
