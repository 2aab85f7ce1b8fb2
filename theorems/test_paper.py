from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache

import pytest

from deltaproof.theorems import catalogue, chosen
from deltaproof.theorems.paper import (
    BEYOND,
    ITEMS,
    LONG,
    PAPER,
    UNNUMBERED,
    Claim,
    names,
    numbered,
)

# Counted in the TeX of both editions: one counter per section, outside comments. Sections 1 and 2
# of the long version, and 9 (incremental recursion), 10, 11, 13 and 15 number nothing.
LAST_IN_PAPER = {"2": 20, "3": 4, "4": 7, "5": 4, "6": 2}
LAST_IN_LONG = {"3": 30, "4": 9, "5": 5, "6": 4, "7": 8, "8": 3, "12": 1, "14": 1, "A": 3}
CLAIMS = {"proposition", "lemma", "corollary", "theorem", "algorithm"}

# The claims without a number that have to be proved, by where the paper makes them.
PLACES = """
    section 2.2, section 2.3, section 4.1, table 1, section 4.4, section 5, equation 5.1,
    section 6, equation 6.1, section 6.1, section 7.1, section 7.2, section 7.2 footnote,
    section 7.3, section 7.4, section 7.5, section 7.6
"""
ENGINES = """
    increments, joins of n tables, semi and anti join, outer joins, sharding, temporal filters,
    state clean-up, upserts, AVG and VARIANCE, groups, MIN and MAX, top k, three-valued logic
"""

# What github.com/tchajed/database-stream-processing-theory declares (commit 0d37f78, src/*.lean);
# left out are tactics, and lemmas that only unfold a definition.
DECLARED = {
    "stream": """
        stream agree_upto agree_everywhere_eq agree_upto_weaken agree_upto_extend cut cut_cut
        cut_comm cut_idem agree_upto_cut agree_with_cut
    """,
    "operators": """
        operator operator2 lifting lifting2 sprod uncurry_op lifting_distributivity lifting_comp
        lifting2_comp delay time_invariant time_invariant_comp lifting_time_invariance
        lifting_time_invariant time_invariant_zpp delay_time_invariant lifting2_time_invariant
        causal lifting_causal delay_causal causal_comp_causal causal_to_agree causal2 strict
        strict_unique_zero strict_causal_to_causal delay_strict causal_strict_strict
        strict_causal_strict fix strict_as_agree_upto fix_eq fixpoints_unique fix_unique fix2
        causal_nested strict2 strict2_is_causal_nested fix2_eq fixpoints2_unique fix2_unique
        lifting_delay_strict2 causal_nested_id causal_nested_comp causal_nested_lifting
        feedback_ckt_body_strict feedback_ckt_unfold feedback_ckt_causal
    """,
    "linear": """
        stream_group linear linear_add linear_zero linear_neg linear_sub lifted_linear lti bilinear
        bilinear_sub_1 bilinear_sub_2 lifting_bilinear mul_Z_bilinear mul_ring_bilinear feedback
        feedback_strict feedback_unfold delay_linear add_linear feedback_time_invariant
        feedback_causal feedback_linear feedback_lti D derivative_causal derivative_time_invariant
        derivative_linear derivative_lti I integral_causal integral_lti integral_time_invariant
        integral_linear integral_unfold sum_vals integral_sum_vals add_causal sum_causal
        derivative_integral integral_derivative derivative_integral_inverse lifting_linear
        lifting_lti derivative_sprod integral_sprod integral_lift_comm
    """,
    "incremental": """
        incremental incremental2 incremental_inversion_l incremental_inversion_r
        incremental_bijection delay_invariance integral_invariance derivative_invariance
        integrate_push derivative_push I_push D_push D_push2 chain_incremental incremental_comp
        add_incremental cycle_body_strict cycle_incremental incremental_sprod
        integral_lift_time_invariant lift_integral_lift_time_invariant lifting_delay_linear
        integral_causal_nested derivative_causal_nested lifting_cycle cycle2_incremental
        lti_incremental I_incremental D_incremental delay_lti delay_incremental time_invariant2
        causal_incremental causal_incremental2 causal_nested_incremental incremental_id
        times_incremental bilinear_incremental bilinear_incremental_forward_proof
        bilinear_incremental_short_paper_proof
    """,
    "ordering": """
        positive stream_monotone is_positive stream_monotone_order integral_monotone derivative_pos
        derivative_pos_counter_example
    """,
    "zset": """
        zset zset.zset_group zset.po to_from_set is_set is_bag fun_positive set_is_bag distinct
        general_sum_linear flatmap flatmap_linear map_linear map_is_card map_at_nonneg map_at_pos
    """,
    "relational": """
        distinct_is_set distinct_is_bag distinct_set_id distinct_elem distinct_pos union union_ok
        union_pos map_ok map_pos filter filter_ok filter_linear filter_pos product product_ok
        product_bilinear product_pos equi_join equi_join_bilinear equi_join_pos intersect
        intersect_ok intersect_pos intersect_bilinear difference difference_ok group_by
        group_by_linear filter_distinct_comm product_distinct_comm join_distinct_comm
        intersect_distinct_comm map_inj_distinct_comm distinct_idem filter_distinct_dedup
        map_distinct_dedup add_distinct_dedup product_distinct_dedup join_distinct_dedup
        intersect_distinct_dedup
    """,
    "relational_incremental": """
        distinct_H distinct_incremental distinct_incremental_ok flatmap_incremental map_incremental
        lifting_map_incremental equi_join_incremental filter_incremental
    """,
    "stream_elim": """
        δ0 zero_after sum_vals_zero_ge sum_vals_eq stream_elim stream_elim_zero_after
        stream_elim_delta delta_linear delta_incremental sum_vals_linear stream_elim_linear
        stream_elim_time_invariant integral_delta nested_zpp
    """,
    "recursive": """
        approxs_unfold recursive_fixpoint approxs_apply derivative_approx_almost_zero
        recursive_fixpoint_ok naive seminaive seminaive_equiv naive_ok seminaive_ok
    """,
    "recursive_example": """
        closure closure_efficient_ok incremental_closure_ok incremental_closure2_ok
        distinct_double_incremental_ok join_double_incremental_ok incremental_closure_opt_ok
    """,
    "circuits": "ckt denote ckt_causal is_strict seq_assoc recursive_opt_ok incrementalize_ok",
    "aggregation": "count count_ok count_linear sum_ok sum_linear",
}
LEAN = {name for declared in DECLARED.values() for name in declared.split()}

CITED = re.compile(r"VLDB 2023|long version|[a-z]+|\d+\.\d+|A\.\d|;")
KINDS = {f"{kind}{s}": kind for kind in (*CLAIMS, "definition") for s in ("", "s")}
KINDS |= {"corollaries": "corollary"}
OTHER = {"section", "sections", "equation", "equations", "table"}


def counted(last: dict[str, int]) -> set[str]:
    return {f"{section}.{place}" for section, end in last.items() for place in range(1, end + 1)}


@cache
def in_catalogue() -> frozenset[str]:
    return frozenset(theorem.name for theorem in catalogue())


def proved(name: str) -> bool:
    """Whether there is a theorem of this name; `test_library` proves them all."""
    return name in in_catalogue()


def cited(source: str) -> Iterator[tuple[str, str, str]]:
    """Edition, kind and number of what a theorem's source cites by number.

    >>> list(cited("DBSP (VLDB 2023) section 2.1, lemma 2.10; long version (2022) lemmas 4.8, 4.9"))
    [('VLDB 2023', 'lemma', '2.10'), ('long version', 'lemma', '4.8'), ('long version', '', '4.9')]
    """
    edition = kind = ""
    here = False
    for word in CITED.findall(source):
        if word in (PAPER, LONG):
            edition, kind, here = word, "", word == LONG
        elif word == ";":
            edition, here = "", False
        elif word in KINDS or word in OTHER:
            kind, here = KINDS.get(word, ""), word in KINDS
        elif word[-1].isdigit() and edition and here:
            yield edition, kind, word
            kind = ""


def dotted(name: str) -> object:
    """What the name stands for: a module, and attributes in it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize(("edition", "last"), [(PAPER, LAST_IN_PAPER), (LONG, LAST_IN_LONG)])
def test_every_number_of_the_edition_is_there_once_and_no_other(
    edition: str, last: dict[str, int]
) -> None:
    numbers = [item.number for item in ITEMS if item.edition == edition]
    assert set(numbers) == counted(last)
    assert len(numbers) == len(set(numbers))


def test_the_paper_numbers_37_and_the_long_version_64() -> None:
    assert [sum(item.edition == edition for item in ITEMS) for edition in (PAPER, LONG)] == [37, 64]


def test_the_items_of_an_edition_stand_in_its_order() -> None:
    for edition, last in ((PAPER, LAST_IN_PAPER), (LONG, LAST_IN_LONG)):
        sections = list(last)
        places = [item.number.split(".") for item in ITEMS if item.edition == edition]
        order = [(sections.index(section), int(place)) for section, place in places]
        assert order == sorted(order)


def test_every_definition_is_defined_and_every_claim_proved_or_explained() -> None:
    assert {item.kind for item in ITEMS} == {*CLAIMS, "definition"}
    for item in ITEMS:
        here = item.defined if item.kind == "definition" else item.remark
        assert item.theorems or here, item


def test_every_theorem_that_an_item_names_is_in_the_catalogue() -> None:
    wrong = [(item.word, name) for item in ITEMS for name in item.theorems if not proved(name)]
    assert not wrong
    assert all(len(item.theorems) == len(set(item.theorems)) for item in ITEMS)


def test_what_defines_an_item_is_there() -> None:
    assert all(callable(dotted(item.defined)) for item in ITEMS if item.defined)


def test_a_name_that_stands_for_nothing_is_not_a_definition() -> None:
    with pytest.raises(AttributeError):
        dotted("deltaproof.reference.stream.derive")
    with pytest.raises(ModuleNotFoundError):
        dotted("deltaprove.reference")


def test_every_statement_is_one_line_of_ascii() -> None:
    claims = [*UNNUMBERED, *BEYOND]
    for statement in [each.statement for each in ITEMS] + [each.statement for each in claims]:
        assert statement.isascii(), statement
        assert statement == " ".join(statement.split())
        assert statement.endswith("."), statement


def test_every_item_is_found_by_its_number_in_any_case() -> None:
    for item in ITEMS:
        assert numbered(item.word) == numbered(f" {item.word.lower()} ") == (item,)


def test_only_what_is_a_matter_of_types_is_claimed_without_a_theorem() -> None:
    assert [item.word for item in ITEMS if not item.theorems] == ["TR 12.1"]


def test_an_edition_does_not_answer_for_the_other() -> None:
    (paper,), (long,) = numbered("4.7"), numbered("TR 4.7")
    assert (paper.edition, paper.kind) == (PAPER, "proposition")
    assert (long.edition, long.kind) == (LONG, "definition")
    assert numbered("TR 2.9") == numbered("3.30") == ()


def test_the_theorems_of_a_number_are_chosen_by_it() -> None:
    by_number = [theorem.name for theorem in chosen(["TR 4.9", "2.9"])]
    assert by_number == ["positive_integral_monotone", "strict_fixpoint"]


@pytest.mark.parametrize(("claims", "places"), [(UNNUMBERED, PLACES), (BEYOND, ENGINES)])
def test_every_claim_without_a_number_names_theorems(
    claims: tuple[Claim, ...], places: str
) -> None:
    listed = {" ".join(place.split()) for place in places.split(",")}
    assert {claim.place.replace(",", "") for claim in claims} == listed
    assert all(claim.theorems and all(map(proved, claim.theorems)) for claim in claims)
    assert len({claim.statement for claim in claims}) == len(claims)


def test_every_number_that_a_theorem_cites_is_an_item_of_that_kind_and_edition() -> None:
    kinds = {(item.edition, item.number): item.kind for item in ITEMS}
    wrong = [
        f"{theorem.name} cites {kind} {number} of the {edition}"
        for theorem in catalogue()
        for edition, kind, number in cited(theorem.source)
        if kinds.get((edition, number), "") not in ([kind] if kind else kinds.values())
    ]
    assert not wrong


def test_a_citation_of_another_kind_or_edition_is_noticed() -> None:
    assert list(cited("DBSP (VLDB 2023) lemma 4.7")) == [(PAPER, "lemma", "4.7")]
    assert list(cited("long version (2022) section 7.2; SQL:2016 8.20; Lean")) == []
    assert [(item.edition, item.kind) for item in numbered("4.7")] == [(PAPER, "proposition")]


def test_lean_declares_the_names_that_theorems_and_items_cite() -> None:
    lean = {theorem.name: theorem.lean for theorem in catalogue()}
    lean |= {item.word: item.lean for item in ITEMS}
    pairs = {(who, name) for who, cites in lean.items() for name in names(cites)}
    assert {(who, name) for who, name in pairs if name not in LEAN} == set()
