"""A counterexample in a file is the same one for whoever reads it; a broken file says where."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from deltaproof.properties.check import check_law, judge, subject_of_function
from deltaproof.properties.draw import Draws
from deltaproof.properties.inputs import Inputs
from deltaproof.properties.law import Equation, Law, Subject, ZSets, law, subject_of
from deltaproof.properties.lawfile import LawFile
from deltaproof.properties.laws import CATALOGUE
from deltaproof.properties.laws.data import zset_add_commutes
from deltaproof.properties.laws.operators import increment_is_incremental, operator_row_order_free
from deltaproof.properties.laws.queries import circuit_is_incremental
from deltaproof.properties.laws.shapes import operator_additive
from deltaproof.reference.errors import CaseError, UsageError
from deltaproof.reference.operator import Increment, LinearIncrement, Shape
from deltaproof.reference.operators.distinct import Distinct
from deltaproof.reference.operators.join import Join
from deltaproof.reference.types import Schema
from deltaproof.reference.zset import ZSet

K = Schema.parse("k BIGINT NOT NULL")
V = Schema.parse("v BIGINT NOT NULL")
ALL = Schema.parse(
    "b BOOLEAN, i BIGINT, d DOUBLE, n DECIMAL(10,2), s VARCHAR, day DATE, at TIMESTAMP, "
    "xs ARRAY(BIGINT)"
)
JOIN = subject_of(Join((("k", "v"),)), K, V)


@dataclass(frozen=True)
class AtLeast(Distinct):
    """DISTINCT of rows that are there so often, claimed to be linear."""

    least: int = 1
    name = "at_least"
    shape = Shape.LINEAR

    def meaning(self, *inputs: Schema) -> Any:
        return lambda a: ZSet({row: 1 for row, weight in a.items() if weight >= self.least})

    def increment(self, *inputs: Schema) -> Increment:
        return LinearIncrement(self.meaning(*inputs))

    def to_json(self) -> dict[str, Any]:
        return {"least": self.least}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        return cls(arguments["least"])


def through_text(file: LawFile) -> LawFile:
    return LawFile.from_json(json.loads(json.dumps(file.to_json())))


def drawn_for(law: Law) -> list[Inputs]:
    """Cases of the law, about an operator of as many inputs as it wants."""
    if all(kind is not Subject for _, kind in law.parameters):
        return Draws(Join, 6).of(law)
    return Draws(JOIN, 6).of(law)


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_the_inputs_of_every_law_come_back_as_they_were(law: Law) -> None:
    for inputs in drawn_for(law):
        _, back = through_text(LawFile.of(law, inputs)).case()
        pairs = list(zip(inputs, back, strict=True))
        data = [(a, b) for a, b in pairs if not isinstance(a[1], Subject)]
        assert [b for _, b in data] == [a for a, _ in data]
        subjects = [(a[1], b[1]) for a, b in pairs if isinstance(a[1], Subject)]
        assert all((a.operator, a.schemas) == (b.operator, b.schemas) for a, b in subjects)


def test_rows_of_every_type_come_back_in_their_order() -> None:
    same = subject_of(Distinct(), ALL)
    for inputs in Draws(same, 60).of(operator_row_order_free):
        (_, back) = through_text(LawFile.of(operator_row_order_free, inputs)).case()
        (ours,), (theirs,) = dict(inputs)["a"], dict(back)["a"]
        assert list(ours.items()) == list(theirs.items())


def test_an_operator_of_somebody_else_is_named_and_keeps_its_arguments(tmp_path: Path) -> None:
    found = check_law(operator_additive, subject_of(AtLeast(2), K)).counterexample
    assert found is not None
    path = LawFile.of(operator_additive, found.inputs, "mine.py:AtLeast").save(tmp_path)
    assert path.name.startswith("operator_additive-")
    assert path.name.endswith(".law.json")
    file = LawFile.load(path)
    assert (file.about, file.operator) == ("mine.py:AtLeast", {"op": "at_least", "least": 2})
    for about in (AtLeast, AtLeast(7)):  # the arguments are those of the file
        judged = file.judged(about)
        assert judged is not None
        assert str(judged.counterexample) == str(found)
    with pytest.raises(CaseError, match=r"name it with --operator mine\.py:AtLeast"):
        file.judged()
    with pytest.raises(CaseError, match="there is no operator 'at_least' here"):
        file.judged(Distinct)


def test_a_function_is_replayed_with_the_shape_that_it_claims(tmp_path: Path) -> None:
    def clamped(a: ZSet) -> ZSet:
        return ZSet({row: max(weight, 0) for row, weight in a.items()})

    subject = subject_of_function(clamped, Shape.LINEAR, K)
    found = check_law(increment_is_incremental, subject).counterexample
    assert found is not None
    file = LawFile.load(LawFile.of(found.law, found.inputs, "mine.py:clamped").save(tmp_path))
    assert (file.operator, file.shape) == (None, "linear")
    assert file.equation(clamped) == found.equation
    with pytest.raises(CaseError, match=r"is about the function mine\.py:clamped"):
        file.case()


def test_a_query_of_somebody_elses_operator_is_read_when_that_is_named() -> None:
    found = check_law(circuit_is_incremental, subject_of(AtLeast(1), K)).counterexample
    assert found is not None
    file = through_text(LawFile.of(found.law, found.inputs, "mine.py:AtLeast"))
    assert file.equation(AtLeast) == found.equation
    with pytest.raises(CaseError, match=r"inputs: q: .*unknown operator 'at_least'"):
        file.case()


@law("at_least", "Q(a) = a", source="this test")
def at_least_identity(q: Subject, a: ZSets) -> Equation:
    """A law that an operator brings."""
    return Equation((q.meaning(*a),), a)


class WithItsLaw(AtLeast):
    laws = (at_least_identity,)


def test_a_law_that_an_operator_brings_is_found_on_the_operator() -> None:
    found = check_law(at_least_identity, subject_of(WithItsLaw(1), K)).counterexample
    assert found is not None
    file = through_text(LawFile.of(found.law, found.inputs, "mine.py:WithItsLaw"))
    assert file.equation(WithItsLaw) == found.equation
    with pytest.raises(CaseError, match="there is no law 'at_least_identity'"):
        file.case()


def test_equal_counterexamples_are_one_file(tmp_path: Path) -> None:
    first, again = (LawFile.of(zset_add_commutes, pair(1)).save(tmp_path) for _ in "12")
    other = LawFile.of(zset_add_commutes, pair(2)).save(tmp_path)
    assert first == again != other
    assert sorted(tmp_path.iterdir()) == sorted([first, other])


def pair(weight: int) -> Inputs:
    return (("a", ZSet({(1,): weight}, K)), ("b", ZSet((), K)))


def test_a_law_of_z_sets_needs_no_operator() -> None:
    law, inputs = through_text(LawFile.of(zset_add_commutes, pair(3))).case()
    judged = judge(law, inputs)
    assert judged is not None
    assert judged.counterexample is None


class Unwritable(AtLeast):
    def to_json(self) -> dict[str, Any]:
        return {"least": object()}


def test_arguments_that_json_cannot_hold_are_one_clear_line() -> None:
    q = subject_of(Unwritable(1), K)
    one = (ZSet({(1,): 1}, K),)
    with pytest.raises(UsageError, match="its arguments are no JSON: Object of type object"):
        LawFile.of(operator_additive, (("q", q), ("a", one), ("b", one)))


GOOD: dict[str, Any] = {
    "deltaproof_law": 1,
    "law": "operator_additive",
    "about": "distinct",
    "operator": {"op": "distinct"},
    "schemas": ["k BIGINT NOT NULL"],
    "inputs": {"a": [[[[0], 1]]], "b": [[[[0], 1]]]},
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deltaproof_law": 2}, "expected version 1, got 2"),
        ({"law": 7}, "law: got 7"),
        ({"operator": {"name": "distinct"}}, 'operator: expected {"op": name, ...}'),
        ({"operator": "distinct"}, "operator: got 'distinct'"),
        ({"shape": "round"}, "shape: expected one of linear, bilinear, general, got 'round'"),
        ({"schemas": ["k BIGNUM"]}, "schemas: "),
        ({"schemas": []}, "inputs: a: expected one for each of 0 inputs"),
        ({"inputs": {"a": [[]]}}, "inputs: operator_additive has the inputs ['a', 'b']"),
        ({"inputs": {"a": [[]], "b": 7}}, "inputs: b: expected one for each of 1 inputs"),
        ({"inputs": {"a": [[]], "b": [[[["x"], 1]]]}}, "inputs: b: input 0: column k: expected"),
        ({"inputs": {"a": [[]], "b": [[[[1], 0.5]]]}}, "inputs: b: input 0: row (1,): expected an"),
        (
            {"inputs": {"a": [[[1]]], "b": [[]]}},
            "inputs: a: input 0: expected [[row, weight], ...]",
        ),
        (
            {"law": "increment_causal", "inputs": {"s": [[[]]], "r": [[[[]]]], "t": 0}},
            "inputs: r: input 0: tick 0: expected [[row, weight], ...]",
        ),
        (
            {"law": "increment_causal", "inputs": {"s": [[[]]], "r": [[[]]], "t": "0"}},
            "inputs: t: expected a whole number, got '0'",
        ),
        (
            {"law": "increment_causal", "inputs": {"s": [7], "r": [[[]]], "t": 0}},
            "inputs: s: input 0: expected a list of Z-sets, got 7",
        ),
    ],
    ids=lambda value: None if isinstance(value, dict) else value[:30],
)
def test_a_broken_file_says_what_is_wrong_and_where(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "broken.law.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(CaseError) as raised:
        LawFile.load(path)
    assert str(raised.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("missing", ["law", "about", "operator", "schemas", "inputs"])
def test_a_file_without_a_part_says_which(missing: str) -> None:
    document = {key: value for key, value in GOOD.items() if key != missing}
    with pytest.raises(CaseError, match=f"'{missing}' is missing"):
        LawFile.from_json(document)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"tables": {}}', "[" * 100_000])
def test_what_is_no_law_file_is_one_clear_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.law.json"
    path.write_text(text)
    with pytest.raises(CaseError, match=r"broken.law.json: "):
        LawFile.load(path)


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"none\.law\.json: No such file"):
        LawFile.load(tmp_path / "none.law.json")


QUERY = {"tables": {"t": "k BIGINT"}, "query": {"op": "distinct", "inputs": [{"table": "t"}]}}


@pytest.mark.parametrize(
    ("query", "ticks", "message"),
    [
        (QUERY, [{"u": []}], "inputs: s: tick 0: unknown table 'u': there are t"),
        (QUERY, [{"t": [[["x"], 1]]}], "inputs: s: tick 0: table t: column k: expected"),
        (QUERY, {"t": []}, 'inputs: s: expected [{"table": Z-set}, ...]'),
        ({"tables": {"t": "k BIGINT"}}, [], "inputs: q: the query is missing"),
        ({"query": {"table": "t"}}, [], 'inputs: q: expected {"tables": ..., "query": ...}'),
        (QUERY | {"tables": {"t": 7}}, [], "inputs: q: table t: expected a list of columns"),
    ],
)
def test_a_broken_query_says_where(query: Any, ticks: Any, message: str) -> None:
    document = GOOD | {
        "law": "circuit_is_incremental",
        "operator": None,
        "inputs": {"q": query, "s": ticks},
    }
    with pytest.raises(CaseError) as raised:
        LawFile.from_json(document).case()
    assert str(raised.value).startswith(message)
