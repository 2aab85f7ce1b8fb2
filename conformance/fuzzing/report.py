"""What a run of fuzzing says: what was reached of what there is, what fails, and what is left.

The bound is the rule of three: n cases that could have failed and did not leave at most 3/n, at
95 %, for cases as this generator draws them, and for no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deltaproof.conformance.console import NONCONFORMANT, PASS, UNKNOWN
from deltaproof.conformance.explain import labelled, wrapped
from deltaproof.conformance.fuzzing.classes import FailureClass, replay_words
from deltaproof.conformance.fuzzing.corpus import Corpus
from deltaproof.conformance.fuzzing.ground import ALONE, TRIES, Place
from deltaproof.conformance.fuzzing.jobs import PATIENCE
from deltaproof.conformance.fuzzing.run import FuzzRun
from deltaproof.conformance.histories import KINDS
from deltaproof.conformance.report import share

MOST_NAMED = 8  # of a list that a line gives
WIDTH = 80

WHY = {
    "time": "the time is over",
    "cases": "the cases are done",
    "plateau": "nothing new came: a plateau",
    "interrupted": "interrupted",
    "all ended": "no process is left",
    "nothing": "no place gave a case that has a meaning: see `sample` and `output`",
    "endless": f"a query took longer than {PATIENCE:.0f} s, and was ended",
}


def exit_code(run: FuzzRun) -> int:
    """1 when something fails, 2 when the run says too little: interrupted, or no case."""
    if run.classes or run.unsorted:
        return NONCONFORMANT
    cut_short = run.stopped in ("interrupted", "all ended", "endless") or run.lost
    return UNKNOWN if cut_short or not run.tally.equal else PASS


def fuzz_lines(run: FuzzRun) -> Iterator[str]:
    """The run as lines of text."""
    yield from labelled(sections(run)).splitlines()
    for each in run.classes:
        yield ""
        yield from each.text.splitlines()
        yield from class_lines(each)
    yield ""
    yield verdict_line(run)


def sections(run: FuzzRun) -> list[tuple[str, str]]:
    tally = run.tally
    jobs = f", {run.jobs} processes" if run.jobs > 1 else ""
    lines = [
        ("operator", f"{run.target.name} ({run.target.words}), seed {run.seed}{jobs}"),
        (
            "cases",
            f"{tally.cases:,} of {tally.shapes:,} queries in {run.seconds:.1f} s, "
            f"{tally.rate:,.0f}/s per core; {tally.vacuous:,} vacuous "
            f"({share(tally.vacuous, tally.cases)}), {tally.refused:,} without a value",
        ),
        ("places", "\n".join(place_lines(run))),
    ]
    if run.corpus is not None:
        lines.append(("corpus", "\n".join(corpus_lines(run, run.corpus))))
    lines += [("lost", f"{each}; the others went on") for each in run.lost]
    if run.endless:
        lines.append(("endless", run.endless))
    quiet = f"the last new thing came {run.last_new:.1f} s after the start"
    lines.append(("stopped", f"{WHY[run.stopped]}; {quiet}, {run.quiet:.1f} s before the end"))
    return lines


def place_lines(run: FuzzRun) -> Iterator[str]:
    """What was reached, of what there is."""
    fits, unfit, untried = sorted_places(run)
    reached = [place for place in fits if any((place, kind) in run.tally.covered for kind in KINDS)]
    cells = len(fits) * len(KINDS)
    covered = sum((place, kind) in run.tally.covered for place in fits for kind in KINDS)
    yield (
        f"{len(reached)} of {len(fits)} that fit (alone, below and above another operator), "
        f"{covered:,} of {cells:,} place x kind of change"
    )
    if covered < cells:
        yield f"not reached: {listed(list(missing_cells(run, fits)))}"
    forms = run.target.kind.all_capabilities()
    if len(forms) > 1:
        lacking = [name for name in forms if not run.tally.forms[name]]
        without = f"; not reached: {listed(lacking)}" if lacking else ""
        yield f"{len(forms) - len(lacking)} of {len(forms)} forms of it{without}"
    if unfit:
        words = [f"{place_text(place)} ({run.tally.vain[place]} tries)" for place in unfit]
        yield f"does not fit: {listed(words)}"
    if untried:
        yield f"not tried enough: {listed([place_text(place) for place in untried])}"


def missing_cells(run: FuzzRun, fits: Sequence[Place]) -> Iterator[str]:
    """The places that were not reached by some kinds of change."""
    for place in fits:
        kinds = [kind for kind in KINDS if (place, kind) not in run.tally.covered]
        if len(kinds) == len(KINDS):
            yield f"{place_text(place)} (no kind)"
        elif kinds:
            yield f"{place_text(place)} @{'+'.join(kinds)}"


def sorted_places(run: FuzzRun) -> tuple[list[Place], list[Place], list[Place]]:
    """The places that fit, those that do not, and those that were not tried enough to say so."""
    tally = run.tally
    others = [place for place in run.target.places() if place not in tally.fits]
    unfit = [place for place in others if tally.vain[place] >= TRIES]
    return sorted(tally.fits), unfit, [place for place in others if place not in unfit]


def place_text(place: Place) -> str:
    """The place as words.

    >>> place_text(("distinct", "join")), place_text(("", "join"))
    ('distinct > join', 'join alone')
    """
    below, above = place
    return f"{above} alone" if below == ALONE else f"{below} > {above}"


def listed(words: Sequence[str]) -> str:
    """The first of the words, and how many more there are."""
    rest = len(words) - MOST_NAMED
    shown = [*words[:MOST_NAMED], *([f"and {rest} more"] if rest > 0 else [])]
    return wrapped([f"{word}," for word in shown[:-1]] + shown[-1:], WIDTH)


def corpus_lines(run: FuzzRun, corpus: Corpus) -> Iterator[str]:
    others = f", {corpus.of_others} of other operators left alone" if corpus.of_others else ""
    yield (
        f"{corpus.folder}: {run.tally.replayed:,} replayed first, {corpus.written} new, "
        f"{corpus.size:,} now{others}"
    )
    if corpus.foreign:
        yield f"no case files: {listed(corpus.foreign)}"
    yield from (f"unreadable: {message}" for message in corpus.unreadable[:MOST_NAMED])
    if (rest := len(corpus.unreadable) - MOST_NAMED) > 0:
        yield f"and {rest} more unreadable files"


def class_lines(found: FailureClass) -> Iterator[str]:
    shrunk = f"; shrunk {found.sizes[0]} -> {found.sizes[1]}" if found.sizes else ""
    times = "case fails" if found.cases == 1 else "cases fail"
    yield f"  {found.cases:,} {times} in this way, the first of them case {found.first:,}{shrunk}"


def verdict_line(run: FuzzRun) -> str:
    """What the run says, in one sentence."""
    judged = run.tally.equal
    if run.classes or run.unsorted:
        words = f"{len(run.classes)} class{'es' * (len(run.classes) != 1)} of failure"
        if run.unsorted:
            return (
                f"NONCONFORMANT: {words}, and {run.unsorted:,} failing cases not sorted into them"
            )
        outside = bound_words(run, " outside of them")
        return f"NONCONFORMANT: {words}; {outside}"
    if not judged:
        return f"UNKNOWN: no case could show anything about {run.target.name}"
    return f"EQUAL at every tick of {judged:,} cases that could show a failure; {bound_words(run)}"


def bound_words(run: FuzzRun, where: str = "") -> str:
    if run.bound is None:
        return "no case was equal, so nothing bounds the failure rate"
    return (
        f"at most {run.bound:.1e} of the cases of this generator fail{where} "
        f"(95 %, rule of three over {run.tally.equal:,})"
    )


def fuzz_json(run: FuzzRun) -> dict[str, Any]:
    """The same as JSON."""
    tally, corpus = run.tally, run.corpus
    fits, unfit, untried = sorted_places(run)
    return {
        "operator": run.target.name,
        "target": run.target.words,
        "seed": run.seed,
        "jobs": run.jobs,
        "stopped": run.stopped,
        "seconds": round(run.seconds, 3),
        "last_new": round(run.last_new, 3),
        "quiet": round(run.quiet, 3),
        "shapes": tally.shapes,
        "cases": tally.cases,
        "equal": tally.equal,
        "vacuous": tally.vacuous,
        "failing": tally.failing,
        "without_a_value": tally.refused,
        "cases_per_second_per_core": round(tally.rate, 1),
        "places": {
            place_text(place): {kind: tally.covered[place, kind] for kind in KINDS}
            for place in fits
        },
        "forms": {name: tally.forms[name] for name in run.target.kind.all_capabilities()},
        "does_not_fit": {place_text(place): tally.vain[place] for place in unfit},
        "not_tried_enough": [place_text(place) for place in untried],
        "corpus": None
        if corpus is None
        else {
            "folder": str(corpus.folder),
            "replayed": tally.replayed,
            "new": corpus.written,
            "size": corpus.size,
            "of_others": corpus.of_others,
            "foreign": corpus.foreign,
            "unreadable": corpus.unreadable,
        },
        "lost": run.lost,
        "endless": run.endless or None,
        "classes": [
            {
                "class": each.kind,
                "operators": each.where,
                "cases": each.cases,
                "first_case": each.first,
                "message": each.message,
                "file": str(each.path) if each.path else None,
                "replay": replay_words(each.path, run.target) if each.path else None,
                "case": each.case.to_json() if each.case else None,
                "text": each.text,
            }
            for each in run.classes
        ],
        "unsorted": run.unsorted,
        "failure_rate_bound": run.bound,
        "exit": exit_code(run),
    }
