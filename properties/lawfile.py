"""A counterexample is a file that anybody can replay: the law by its name, the inputs as JSON.

    {"deltaproof_law": 1,
     "law": "operator_additive",
     "about": "mine.py:Clamp",
     "operator": {"op": "clamp", "least": 0},
     "schemas": ["k BIGINT NOT NULL"],
     "inputs": {"a": [[[[0], 1]]], "b": [[[[0], -1]]]}}

A Z-set is [[row, weight], ...], several of them and streams are lists of those, ticks are
{"table": Z-set}; a query is {"tables": ..., "query": ...} as in a case. An operator says its
arguments in `to_json`; a function of Z-sets has `operator` null and its `shape`. What the two
sides were is never read from the file: they are computed again. `about` is only a name: nothing
is imported because a file says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltaproof.properties.check import Judged, judge, subject_of_function
from deltaproof.properties.inputs import Inputs, zsets_in
from deltaproof.properties.law import Equation, Law, Subject, Ticks, subject_of
from deltaproof.properties.law_json import (
    naming,
    query_from_json,
    ticks_from_json,
    ticks_json,
    value_from_json,
    value_json,
)
from deltaproof.properties.laws import CATALOGUE
from deltaproof.reference.errors import CaseError, SchemaError, UsageError
from deltaproof.reference.operator import Operator, Shape
from deltaproof.reference.operators import kinds_by_name, knowing
from deltaproof.reference.query import Query
from deltaproof.reference.types import Schema

VERSION = 1
NEEDED: Mapping[str, Any] = {
    "law": str,
    "about": str,
    "operator": dict | None,
    "schemas": list,
    "inputs": dict,
}
SUFFIX = ".law.json"


@dataclass(frozen=True)
class LawFile:
    """Inputs that break a law, as JSON.

    >>> from deltaproof.properties.laws.shapes import operator_additive
    >>> from deltaproof.reference.operators.distinct import Distinct
    >>> from deltaproof.reference.zset import ZSet
    >>> q, one = subject_of(Distinct(), Schema.parse("k BIGINT")), (ZSet({(7,): 1}),)
    >>> file = LawFile.of(operator_additive, (("q", q), ("a", one), ("b", one)), "distinct")
    >>> file.inputs
    {'a': [[[[7], 1]]], 'b': [[[[7], 1]]]}
    >>> law, inputs = LawFile.from_json(file.to_json()).case()
    >>> law.equation(*[value for _, value in inputs])
    Equation(lhs=ZSet({(7,): 1}), rhs=ZSet({(7,): 2}))
    """

    law: str
    about: str  # who breaks it, in words that `--operator` understands
    operator: Mapping[str, Any] | None
    shape: str | None  # of a function
    schemas: tuple[Schema, ...]
    inputs: Mapping[str, Any]
    place: str = field(default="", compare=False)  # the file's name, for messages

    @classmethod
    def of(cls, law: Law, inputs: Inputs, about: str = "") -> LawFile:
        """The file of a counterexample. Raises UsageError for an operator that JSON cannot hold."""
        first = inputs[0][1] if inputs else None
        subject = first if isinstance(first, Subject) else None
        tables = first.tables() if isinstance(first, Query) else {}
        schemas = subject.schemas if subject else schemas_in(inputs)
        kinds = dict(law.parameters)
        data: dict[str, Any] = {}
        try:
            operator = operator_json(subject.operator) if subject and subject.operator else None
            for name, value in inputs:
                if kinds[name] == Ticks:
                    data[name] = ticks_json(value, tables)
                elif kinds[name] is not Subject:
                    data[name] = value_json(kinds[name], value, schemas)
            json.dumps([operator, data])
        except (TypeError, ValueError, NotImplementedError) as error:
            raise UsageError(f"{subject or first}: its arguments are no JSON: {error}") from None
        name = about or (subject.name if subject else "")
        shape = subject.shape.value if subject and not operator else None
        return cls(law.name, name, operator, shape, () if tables else schemas, data)

    def to_json(self) -> dict[str, Any]:
        return {
            "deltaproof_law": VERSION,
            "law": self.law,
            "about": self.about,
            "operator": self.operator,
            **({"shape": self.shape} if self.shape else {}),
            "schemas": [schema_json(schema) for schema in self.schemas],
            "inputs": dict(self.inputs),
        }

    @property
    def identity(self) -> str:
        """A name made from the content: equal files have one, on every machine."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def save(self, folder: Path) -> Path:
        """Writes the file under a name made of the law and the content; it appears whole."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.law}-{self.identity}{SUFFIX}"
        part = path.with_suffix(".part")
        lines = ",\n ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in self.to_json().items())
        part.write_text(f"{{{lines}}}\n", encoding="utf-8")
        return part.replace(path)

    @classmethod
    def load(cls, path: Path) -> LawFile:
        """The file's content, checked. Raises CaseError naming the file and the place in it."""
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")), str(path))
        except OSError as error:
            raise CaseError(f"{path}: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise CaseError(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, document: Any, place: str = "") -> LawFile:
        """What `to_json` wrote. Raises CaseError saying what is wrong and where."""
        with naming(place):
            fields = checked(document)
            with naming("schemas"):
                schemas = tuple(map(Schema.from_json, fields["schemas"]))
            file = cls(
                fields["law"],
                fields["about"],
                fields["operator"],
                fields.get("shape"),
                schemas,
                fields["inputs"],
                place,
            )
        known = {law.name: law for law in CATALOGUE}
        if file.law in known and Query not in dict(known[file.law].parameters).values():
            file.data(known[file.law])
        return file

    # ── What the file stands for ────────────────────────────────────────────────────────────

    def case(self, about: Any = None) -> tuple[Law, Inputs]:
        """The law and its inputs, to be judged.

        `about` is the operator, kind, `Subject` or function that the file is about; one of our
        own operators is known by its name. Raises UsageError when it is somebody else's.
        """
        law = self.law_of(about)
        kinds = [kind for _, kind in law.parameters]
        given: list[tuple[str, Any]] = []
        with naming(self.place):
            if kinds and kinds[0] is Subject:
                given.append((law.parameters[0][0], self.subject(about)))
            with knowing(*unknown_kind(about)):
                given += self.data(law)
        return law, tuple(given)

    def judged(self, about: Any = None) -> Judged | None:
        """What the inputs say of the law now; None where an expression has no value."""
        return judge(*self.case(about))

    def equation(self, about: Any = None) -> Equation:
        """The two sides now. Raises whatever the code under test raises."""
        law, inputs = self.case(about)
        return law.equation(*[value for _, value in inputs])

    def law_of(self, about: Any) -> Law:
        """The law of this name: one of the catalogue, or one that the operator brings."""
        own: tuple[Law, ...] = getattr(about, "laws", ())
        for law in (*CATALOGUE, *own):
            if law.name == self.law:
                return law
        raise CaseError(f"{self.place or 'law'}: there is no law {self.law!r}")

    def data(self, law: Law) -> list[tuple[str, Any]]:
        """All inputs but the operator. Raises CaseError saying in which one something is wrong."""
        wanted = [(name, kind) for name, kind in law.parameters if kind is not Subject]
        with naming(self.place), naming("inputs"):
            if (names := [name for name, _ in wanted]) != list(self.inputs):
                raise CaseError(f"{law.name} has the inputs {names}, got {list(self.inputs)}")
            return self.values(wanted)

    def values(self, wanted: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        tables: Mapping[str, Schema] = {}
        for name, kind in wanted:
            with naming(name):
                if kind is Query:
                    query = query_from_json(self.inputs[name])
                    tables = query.tables()
                    found.append((name, query))
                elif kind == Ticks:
                    found.append((name, ticks_from_json(self.inputs[name], tables)))
                else:
                    given = value_from_json(kind, self.inputs[name], self.schemas)
                    found.append((name, given))
        return found

    def subject(self, about: Any) -> Subject:
        """Of whom the law is, at the schemas of the file."""
        if isinstance(about, Subject):
            return about
        if self.operator is None:
            if about is None or isinstance(about, Operator | type):
                raise UsageError(
                    f"the file is about the function {self.about}: "
                    f"name it with --operator {self.about}"
                )
            return subject_of_function(about, Shape(self.shape or "general"), *self.schemas)
        kind = kind_of(about) if about else kinds_by_name().get(self.operator["op"])
        if kind is None or kind.name != self.operator["op"]:
            raise UsageError(
                f"there is no operator {self.operator['op']!r} here: "
                f"name it with --operator {self.about}"
            )
        with naming("operator"):
            return subject_of(kind.from_json(dict(self.operator)), *self.schemas)


def schema_json(schema: Schema) -> Any:
    """The schema in words, where words are enough."""
    try:
        words = Schema.parse(str(schema)) == schema
    except SchemaError:
        words = False
    return str(schema) if words else schema.to_json()


def operator_json(operator: Operator) -> dict[str, Any]:
    return {"op": operator.name, **operator.to_json()}


def schemas_in(inputs: Inputs) -> tuple[Schema, ...]:
    """The schema of the Z-sets that are about nobody."""
    found = (zset.schema for zset in zsets_in([value for _, value in inputs]))
    return tuple(dict.fromkeys(schema for schema in found if schema is not None))


def checked(document: Any) -> dict[str, Any]:
    """The fields of a file. Raises CaseError for a document that is none."""
    if not isinstance(document, dict) or "deltaproof_law" not in document:
        raise CaseError('expected {"deltaproof_law": 1, "law": ...}')
    if document["deltaproof_law"] != VERSION:
        raise CaseError(f"expected version {VERSION}, got {document['deltaproof_law']!r}")
    if missing := [key for key in NEEDED if key not in document]:
        raise CaseError(f"{missing[0]!r} is missing: expected {', '.join(NEEDED)}")
    for key, kinds in NEEDED.items():
        if not isinstance(document[key], kinds):
            raise CaseError(f"{key}: got {document[key]!r}")
    operator, shape = document["operator"], document.get("shape")
    if operator is not None and not isinstance(operator.get("op"), str):
        raise CaseError(f'operator: expected {{"op": name, ...}}, got {operator!r}')
    shapes = [each.value for each in Shape]
    if shape is not None and shape not in shapes:
        raise CaseError(f"shape: expected one of {', '.join(shapes)}, got {shape!r}")
    return document


def kind_of(about: Any) -> type[Operator] | None:
    """The kind of operator that this is, or is one of."""
    kind = about if isinstance(about, type) else type(about)
    return kind if issubclass(kind, Operator) else None


def unknown_kind(about: Any) -> tuple[type[Operator], ...]:
    """The kind of operator that is to be known by its name while a query is read."""
    kind = kind_of(about)
    return () if kind is None or kinds_by_name().get(kind.name) is kind else (kind,)
