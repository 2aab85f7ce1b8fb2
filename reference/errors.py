"""Every error of deltaproof, in one tree.

    DeltaproofError
    ├── SchemaError         a schema rule was broken: unknown column, types that do not fit
    ├── RowError            a value that does not fit its column
    ├── WeightError         a weight that is not an integer
    ├── EvaluationError     an expression has no value: division by zero, overflow
    ├── TickError           a tick that cannot be applied; the circuit is as it was before
    ├── CheckpointError     a checkpoint that does not belong to this circuit
    ├── SqlError            SQL text that is broken or not supported, with the place in it
    ├── CaseError           a broken case file
    ├── BackendError        a backend failed while it worked
    │   └── BackendMissing  a backend that is not installed here
    ├── UsageError          a wrong argument of a command: unknown cell, unknown backend
    ├── LawViolation        (properties.verdict) a law that an operator breaks, with both sides
    ├── UnsupportedCode     (theorems.verify.source) Python that is not translated, with its line
    └── ProofError          (theorems.kernel) a statement that was not proved, with a counterexample

A message names the operator, the row, what was expected, what came and what to do next.
"""

from __future__ import annotations


class DeltaproofError(Exception):
    """The root of the tree: catch this to catch every error raised on purpose."""

    operator: str = ""  # in which it was met, where the runtime runs several as one


class SchemaError(DeltaproofError):
    """A query that no data could make meaningful."""


class RowError(DeltaproofError):
    """A row that does not fit the schema of its table."""


class WeightError(DeltaproofError):
    """A weight that is not an integer."""


class EvaluationError(DeltaproofError):
    """A scalar expression or an aggregate that has no value for this row or group."""


class TickError(DeltaproofError):
    """A tick that was refused; the state is what it was before it."""


class CheckpointError(DeltaproofError):
    """A checkpoint that cannot be restored into this circuit."""


class SqlError(DeltaproofError):
    """SQL text that cannot become a query: `line` and `column` say where, both from 1."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class CaseError(DeltaproofError):
    """A case file that does not say what a case must say."""


class BackendError(DeltaproofError):
    """A backend that failed while it worked."""


class BackendMissing(BackendError):
    """A backend whose engine is not installed; the message says what to install."""


class UsageError(DeltaproofError):
    """An argument that a command does not understand."""
