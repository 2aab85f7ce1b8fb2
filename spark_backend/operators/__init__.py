"""Every operator that Spark runs, and its form: `lower_<name>` in the file of that name.

An operator is declared in `reference/operators/`; its form is found by its name, so there is
one list of operators and not two. One without a file here does not run on Spark.

An operator that is not ours names the module of its form itself, in `Operator.spark`; it is
imported when a query with that operator is lowered, see `lowering.own_form`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from deltaproof.reference.operator import Operator
from deltaproof.reference.operators import OPERATORS
from deltaproof.spark_backend.lowering import Form, Forms


def forms() -> Iterator[tuple[type[Operator], Form]]:
    """Every operator that has a form, with it."""
    for kind in OPERATORS:
        module = f"{__name__}.{kind.name}"
        if find_spec(module) is not None:
            yield kind, getattr(import_module(module), f"lower_{kind.name}")


FORMS: Forms = dict(forms())
