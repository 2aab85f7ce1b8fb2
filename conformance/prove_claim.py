"""`deltaproof prove pkg.module:function --linear` and its like, before click reads the words.

    --linear                  f(a + b) = f(a) + f(b)
    --bilinear                the same in each of two arguments
    --zero-preserving         f(0) = 0
    --equal-to G              f = g
    --increment-of G          f is a step that puts out the changes of g; --state H is what it keeps
    --sufficient-state G      g keeps enough of the input for the changes of f
    --given G                 for which arguments all this is claimed

A function is named `package.module:function` or `path/to/file.py:function`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from deltaproof.conformance.target import Modules, callable_named
from deltaproof.reference.errors import BackendMissing, UsageError

if TYPE_CHECKING:
    from deltaproof.theorems.verify.verdict import Verdict

HELPERS = ("state", "given")


@dataclass(frozen=True)
class Options:
    """What to prove, as the words of the command say it: exactly one claim."""

    linear: bool = False
    bilinear: bool = False
    zero_preserving: bool = False
    equal_to: str | None = None
    increment_of: str | None = None
    sufficient_state: str | None = None
    state: str | None = None
    given: str | None = None


def run(target: str, options: Options) -> Verdict:
    """The verdict on the function that the target names.

    Raises UsageError for a function that cannot be found, or words that do not go together;
    BackendMissing without z3.

    >>> print(run("deltaproof.theorems.verify.examples:clamp", Options(linear=True)))
    clamp is not linear: clamp(-1 + 1) = 0, but clamp(-1) + clamp(1) = 1
    """
    claim = claim_of(options)
    try:
        from deltaproof.theorems import verify
    except ModuleNotFoundError as error:
        if error.name != "z3":
            raise
        needed = "proofs need z3-solver: pip install 'deltaproof[theorems]'"
        raise BackendMissing(needed) from None
    modules: Modules = {}
    function = callable_named(target, modules)
    others = {
        word: callable_named(name, modules)
        for word, name in vars(options).items()
        if isinstance(name, str)
    }
    proofs: Mapping[str, Callable[[], Verdict]] = {
        "linear": lambda: verify.prove_linear(function, others.get("given")),
        "bilinear": lambda: verify.prove_bilinear(function, others.get("given")),
        "zero_preserving": lambda: verify.prove_zero_preserving(function),
        "equal_to": lambda: verify.prove_equal(function, others["equal_to"], others.get("given")),
        "increment_of": lambda: verify.prove_increment(
            function, others["increment_of"], others.get("state"), others.get("given")
        ),
        "sufficient_state": lambda: verify.prove_sufficient_state(
            function, others["sufficient_state"], others.get("given")
        ),
    }
    return proofs[claim]()


def claim_of(options: Options) -> str:
    """The one claim that is asked for.

    >>> claim_of(Options(increment_of="m:f"))
    'increment_of'
    """
    claims = [each.name for each in fields(Options) if each.name not in HELPERS]
    asked = [name for name in claims if getattr(options, name) not in (None, False)]
    if len(asked) != 1:
        words = ", ".join(map(word, asked or claims))
        raise UsageError(f"one claim at a time, {'not' if asked else 'one of'} {words}")
    if options.state and asked != ["increment_of"]:
        raise UsageError("--state belongs to --increment-of")
    if options.given and asked == ["zero_preserving"]:
        raise UsageError("--given has no part in --zero-preserving: 0 is the only argument")
    return asked[0]


def word(name: str) -> str:
    return f"--{name.replace('_', '-')}"
