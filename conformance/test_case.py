"""A case file says what a case must say, or is refused with the place that is wrong."""

from __future__ import annotations

import copy
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from deltaproof.conformance.case import Case
from deltaproof.conformance.generate import shapes
from deltaproof.conformance.histories import KINDS
from deltaproof.reference.errors import CaseError
from deltaproof.reference.zset import ZSet

GOOD: dict[str, Any] = {
    "deltaproof": 1,
    "title": "a group emptied in two ticks never returns",
    "cell": "aggregate.count@resurrect",
    "tables": {"p": "id BIGINT, a VARCHAR"},
    "query": {
        "op": "aggregate",
        "keys": ["a"],
        "aggregates": [["n", "count_star", None]],
        "inputs": [{"table": "p"}],
    },
    "ticks": [{"p": [[[1, "x"], 1], [[2, "x"], 1]]}, {"p": [[[1, "x"], -1]]}, {}],
    "restarts": [1],
}


def broken(**changes: Any) -> dict[str, Any]:
    document = copy.deepcopy(GOOD) | changes
    return {key: value for key, value in document.items() if value is not ...}


def test_a_case_reads_as_it_is_written() -> None:
    case = Case.from_json(GOOD)
    assert case.ticks[0] == {"p": ZSet({(1, "x"): 1, (2, "x"): 1})}
    assert case.restarts == (1,)
    assert Case.from_json(case.to_json()) == case


def test_the_name_of_a_case_follows_its_content_only() -> None:
    case = Case.from_json(GOOD)
    assert case.identity == Case.from_json(broken(title="another", cell="")).identity
    assert case.identity != Case.from_json(broken(ticks=[{}])).identity


def test_a_saved_case_loads_and_leaves_no_part_behind(tmp_path: Path) -> None:
    case = Case.from_json(GOOD).with_notes(found={"seed": 7})
    path = case.save(tmp_path)
    assert Case.load(path) == case
    assert Case.load(path).notes == {"found": {"seed": 7}}
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_every_generated_case_survives_its_file() -> None:
    kinds = list(KINDS)
    for shape in islice(shapes(11), 40):
        for case in islice(shape.cases(kinds), len(kinds)):
            assert Case.from_json(json.loads(case.text())) == case


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "a case is a JSON object"),
        (broken(deltaproof=2), "expected version 1, got 2"),
        (broken(ticks=...), "'ticks' is missing"),
        (broken(tables={"p": "id INTEGER"}), "tables.p: unknown type 'INTEGER'"),
        (broken(tables={"p": GOOD["tables"]["p"], "q": "k BIGINT"}), "does not use q"),
        (broken(query={"op": "sort", "inputs": []}), "query: unknown operator 'sort'"),
        (broken(query={"table": "q"}), "query: unknown table 'q'"),
        (
            broken(query={"op": "distinct", "inputs": []}),
            "query.distinct: .*expected 1 inputs, got 0",
        ),
        (
            broken(query={"op": "filter", "inputs": [{"table": "p"}]}),
            "query.filter: a broken argument",
        ),
        (
            broken(query={"op": "filter", "predicate": ["col", "z"], "inputs": [{"table": "p"}]}),
            "query.filter: unknown column 'z'",
        ),
        (broken(ticks=[{"q": []}]), "tick 1: unknown table 'q'"),
        (broken(ticks=[{}, {"p": [[1, "x"]]}]), "tick 2, table p: expected a list of 2 values"),
        (broken(ticks=[{"p": [[[1, 2], 1]]}]), "column a: expected VARCHAR, got int 2"),
        (broken(ticks=[{"p": [[[1, "x"], 0.5]]}]), "expected an integer weight, got float 0.5"),
        (broken(ticks=[{"p": [[[1, "x"], True]]}]), "expected an integer weight, got bool"),
        (broken(restarts=[7]), "restarts: expected tick numbers from 1 to 3"),
    ],
)
def test_a_broken_case_is_refused_with_its_place(document: Any, message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        Case.from_json(document)
    assert type(caught.value).__module__ == "deltaproof.reference.errors"


def test_a_file_that_is_no_case_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(CaseError, match=r"x\.json"):
        Case.load(tmp_path / "x.json")
    with pytest.raises(CaseError, match="No such file"):
        Case.load(tmp_path / "missing.json")
