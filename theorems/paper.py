"""What the papers number, and which theorem here proves it.

Two editions number differently: the paper (VLDB 2023) and the long version (the technical report
that it cites, with proofs and appendices). An item is found by its number, `4.7` for the paper and
`TR 4.9` for the long version. A definition names the code that says what it means, or theorems
about it; a claim names the theorems that prove it; what is not proved says why.

`UNNUMBERED` are claims that the paper makes in its text, without a number; `BEYOND` are claims of
engines that no number of the papers covers.

    z, D, I    delay, differentiation, integration          lift(f)      f at every tick
    Q^inc      D o Q o I, the incremental version of Q      fix a. F(a)  the a with a = F(a)
    delta0(v)  the stream v, 0, 0, ...                      int(s)       the sum of all of s
    TI, LTI    time-invariant; linear and time-invariant    cut(s, t)    s up to t, then zeros
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

PAPER, LONG = "VLDB 2023", "long version"


@dataclass(frozen=True)
class Item:
    """A numbered definition, proposition, lemma, theorem, corollary or algorithm.

    The statement is in our words, in ASCII. `defined` is the dotted name of what defines it here,
    such as "deltaproof.reference.stream.integrate"; `remark` says what is not proved, and why.
    """

    edition: str
    number: str
    kind: str
    statement: str
    theorems: tuple[str, ...] = ()
    defined: str = ""
    lean: str = ""
    remark: str = ""

    @property
    def word(self) -> str:
        """The item's number as it is asked for."""
        return self.number if self.edition == PAPER else f"TR {self.number}"


@dataclass(frozen=True)
class Claim:
    """A claim that has no number: where it is made, in our words, and what proves it."""

    place: str
    statement: str
    theorems: tuple[str, ...]


def names(words: str) -> tuple[str, ...]:
    """The names in a list of names, as `lean` is one.

    >>> names("fix_eq, fix_unique"), names("")
    (('fix_eq', 'fix_unique'), ())
    """
    return tuple(words.replace(",", " ").split())


def _item(
    edition: str,
    name: str,
    statement: str,
    theorems: str = "",
    *,
    defined: str = "",
    lean: str = "",
    remark: str = "",
) -> Item:
    """The item "proposition 2.4", with the names of its theorems between commas."""
    kind, number = name.split()
    dotted = f"deltaproof.{defined}" if defined else ""
    return Item(edition, number, kind, statement, names(theorems), dotted, lean, remark)


_paper, _long = partial(_item, PAPER), partial(_item, LONG)


def _claim(place: str, statement: str, theorems: str) -> Claim:
    return Claim(place, statement, names(theorems))


_STREAMS = (
    _paper(
        "definition 2.1",
        "A stream of values from A is a function from ticks to A: s[t].",
        "axioms_have_models",
        defined="theorems.calculus.streams.Streams",
        lean="stream",
    ),
    _paper(
        "definition 2.2",
        "A stream operator maps streams, one or more, to a stream.",
        "causal_composition",
        defined="theorems.calculus.causality.Operator",
        lean="operator, operator2",
    ),
    _paper(
        "definition 2.3",
        "Lifting applies a function at every tick: lift(f)(s)[t] = f(s[t]).",
        "lifting_causal",
        defined="reference.stream.lift",
        lean="lifting, lifting2",
    ),
    _paper(
        "proposition 2.4",
        "lift(f o g) = lift(f) o lift(g).",
        "lifting_composes",
        lean="lifting_distributivity, lifting_comp",
    ),
    _paper(
        "definition 2.5",
        "Delay: z(s)[0] = 0, and z(s)[t] = s[t - 1] after that.",
        "delay_strict, delay_linear_time_invariant",
        defined="reference.stream.delay",
        lean="delay",
    ),
    _paper(
        "definition 2.6",
        "S is time-invariant (TI): S(z(s)) = z(S(s)).",
        "lifting_time_invariance, integrate_linear, causal_composition",
        lean="time_invariant",
    ),
    _paper(
        "definition 2.7",
        "S is causal: what it puts out at t depends on its inputs up to t.",
        "agreement_pointwise, lifting_causal, causal_composition",
        defined="theorems.calculus.causality.causal_formula",
        lean="causal",
    ),
    _paper(
        "definition 2.8",
        "S is strict: what it puts out at t depends on its inputs before t.",
        "agreement_pointwise, delay_strict, strict_is_causal, strict_first_value",
        defined="theorems.calculus.causality.strict_formula",
        lean="strict",
        remark="The text then says F(s)[0] = 0: only that F(s)[0] is the same for all s is true.",
    ),
    _paper(
        "proposition 2.9",
        "A strict F has exactly one a with a = F(a).",
        "strict_fixpoint",
        lean="fix_eq, fix_unique",
    ),
    _paper(
        "lemma 2.10",
        "fix a. T(s, F(a)) is well defined and causal for strict F, causal T; TI if both are.",
        "feedback_body_strict, feedback_causal, feedback_time_invariant",
        lean="feedback_ckt_unfold, feedback_ckt_causal",
    ),
    _paper(
        "proposition 2.11",
        "Streams over an abelian group are an abelian group, tick by tick.",
        "stream_group",
        lean="stream_group",
    ),
    _paper(
        "definition 2.12",
        "S is linear: S(a + b) = S(a) + S(b); so S(0) = 0 and S(-a) = -S(a).",
        "linear_zero_odd, lifting_linear",
        defined="theorems.calculus.streams.additive",
        lean="linear",
    ),
    _paper(
        "definition 2.13",
        "Q is bilinear: linear in each argument, the other being fixed.",
        "bilinear_zero, lifting_linear, bilinear_as_printed",
        defined="theorems.calculus.multilinear.Bilinear",
        lean="bilinear",
        remark="Printed with a slip: f(a, c + d) = f(a, c) + f(a, d), and not + f(c, d).",
    ),
    _paper(
        "proposition 2.14",
        "fix a. S(s + z(a)) is well defined and LTI for S causal and LTI.",
        "feedback_linear",
        lean="feedback_lti",
    ),
    _paper(
        "definition 2.15",
        "D(s) = s - z(s).",
        "integrate_inverse",
        defined="reference.stream.differentiate",
        lean="D",
    ),
    _paper(
        "proposition 2.16",
        "D is causal and LTI.",
        "integrate_linear, integrate_causal, differentiate_linear_time_invariant",
        lean="derivative_lti, derivative_causal",
    ),
    _paper(
        "definition 2.17",
        "I(s) = fix a. (s + z(a)).",
        "integral_fixpoint",
        defined="reference.stream.integrate",
        lean="I, integral_unfold",
    ),
    _paper(
        "proposition 2.18",
        "I(s)[t] is the sum of s[i] for i <= t.",
        "integral_is_sum",
        lean="integral_sum_vals",
    ),
    _paper(
        "proposition 2.19",
        "I is causal and LTI.",
        "integrate_linear, integrate_causal, integrate_linear_time_invariant",
        lean="integral_lti, integral_causal",
    ),
    _paper(
        "theorem 2.20",
        "I and D are inverse to each other: I(D(s)) = D(I(s)) = s.",
        "integrate_inverse, integral_fixpoint, integrate_ztransform",
        lean="derivative_integral, integral_derivative",
    ),
)
_INCREMENTS = (
    _paper(
        "definition 3.1",
        "The incremental version of Q: Q^inc = D o Q o I, with an I for each input.",
        "general_increment",
        defined="reference.stream.incremental",
        lean="incremental, incremental2",
    ),
    _paper(
        "proposition 3.2",
        "Inversion; invariance of +, -, z, I, D; push and pull; chain; sum; and cycle rule.",
        "incremental_inversion, incremental_units, incremental_push_pull, incremental_chain, "
        "incremental_chain_nary, incremental_sum, incremental_causal, incremental_cycle, "
        "incremental_ztransform",
        lean="incremental_bijection, I_push, D_push, chain_incremental, cycle_incremental",
    ),
    _paper(
        "theorem 3.3",
        "Q^inc = Q for every LTI operator Q.",
        "lifted_linear_increment, linear_increment_over_time, integrate_ztransform",
        lean="lti_incremental",
    ),
    _paper(
        "theorem 3.4",
        "(a x b)^inc = a x b + z(I(a)) x b + a x z(I(b)) = I(a) x b + a x z(I(b)), x bilinear, TI.",
        "lifted_bilinear_increment, bilinear_increment_over_time, join_ztransform",
        lean="bilinear_incremental",
    ),
)
_RELATIONS = (
    _paper(
        "definition 4.1",
        "A Z-set is a set when every weight is 0 or 1.",
        "isset_preserved, distinct_is_toset",
        defined="theorems.tables.relations.is_set",
        lean="is_set",
    ),
    _paper(
        "definition 4.2",
        "A Z-set is positive when no weight is negative; m >= n when m - n is positive.",
        "positive_order, positive_preserved",
        defined="reference.zset.ZSet.is_positive",
        lean="is_bag",
    ),
    _paper(
        "definition 4.3",
        "distinct(m)[x] = 1 where m[x] > 0, and 0 elsewhere.",
        "distinct_is_toset, distinct_idempotent",
        defined="reference.operators.distinct.Distinct",
        lean="distinct",
    ),
    _paper(
        "proposition 4.4",
        "Q(distinct(i)) = distinct(Q(i)) for positive i, and Q a filter, a join or a product.",
        "distinct_commutes",
        lean="filter_distinct_comm, join_distinct_comm, product_distinct_comm",
    ),
    _paper(
        "proposition 4.5",
        "distinct(Q(distinct(i))) = distinct(Q(i)) for positive i, and Q also projection, map, +.",
        "distinct_once, distinct_once_map",
        lean="filter_distinct_dedup, map_distinct_dedup, add_distinct_dedup, join_distinct_dedup",
    ),
    _paper(
        "algorithm 4.6",
        "Maintaining a view: translate, eliminate distinct, lift, D o Q o I, chain rule.",
        "algorithm_views, algorithm_lifts, circuits_incremental, circuits_batch, "
        "circuits_rewritten, circuits_without_recomputation, distinct_rewriting_sound, "
        "distinct_rewriting_confluent, toset_commutes",
        lean="incrementalize_ok, recursive_opt_ok",
        remark="The footnote on confluence fails for 4.4 and 4.5 as printed; it holds with 4.5 "
        "extended to chains of operators.",
    ),
    _paper(
        "proposition 4.7",
        "lift(distinct)^inc(d) = lift(H)(z(I(d)), d), H in -1, 0, 1 where a row comes or goes.",
        "distinct_increment, distinct_frame",
        lean="distinct_incremental_ok",
    ),
)
_RECURSION = (
    _paper(
        "definition 5.1",
        "A stream is zero almost everywhere when it is 0 from some tick on.",
        "zero_almost_everywhere",
        defined="theorems.loops.elimination.Elimination",
        lean="zero_after",
    ),
    _paper(
        "proposition 5.2",
        "delta0 and int are LTI.",
        "introduction_linear, elimination_linear",
        lean="delta_linear, stream_elim_linear, stream_elim_time_invariant",
        remark="lift(int) with one bound for all ticks; false if int = 0 where a sum diverges.",
    ),
    _paper(
        "algorithm 5.3",
        "A recursive query R as a circuit: int o D o fix o. lift(R)(I(delta0(i)), z(o)).",
        "recursive_circuit, seminaive_evaluation",
        defined="reference.operators.recursion.Recursion",
        lean="naive",
    ),
    _paper(
        "theorem 5.4",
        "What that circuit puts out is the Datalog meaning of R: its least fixpoint.",
        "recursive_circuit, recursion_least",
        lean="naive_ok",
        remark="Where the iterations come to rest; Lean has the fixpoint, not that it is least.",
    ),
)
_NESTED = (
    _paper(
        "proposition 6.1",
        "lift(z) is strict in its second dimension, the iterations.",
        "lifted_delay_strict, nested_fixpoint",
        lean="lifting_delay_strict2",
    ),
    _paper(
        "proposition 6.2",
        "lift(s -> fix a. T(s, z(a))) = s -> fix a. lift(T)(s, lift(z)(a)) for causal T.",
        "lifted_cycle",
        lean="lifting_cycle",
    ),
)
_IN_PAPER = (*_STREAMS, *_INCREMENTS, *_RELATIONS, *_RECURSION, *_NESTED)


def _again(number: str, of: str, kind: str = "") -> Item:
    """What the long version states as the paper does: its own number, and what kind it is there."""
    (item,) = (each for each in _IN_PAPER if each.number == of)
    return replace(item, edition=LONG, number=number, kind=kind or item.kind)


_LONG_STREAMS = (
    _again("3.1", "2.1"),
    _again("3.2", "2.2"),
    _again("3.3", "2.4"),
    _again("3.4", "2.5"),
    _again("3.5", "2.6"),
    _long(
        "definition 3.6",
        "f has the zero-preservation property (zpp) when f(0) = 0, or f(0, 0) = 0.",
        "lifting_time_invariance, linear_zero_odd, bilinear_zero, rowwise_increment",
    ),
    _long(
        "proposition 3.7",
        "lift(f) is TI if and only if f(0) = 0.",
        "lifting_time_invariance",
        lean="lifting_time_invariance, lifting2_time_invariant",
    ),
    _again("3.8", "2.7"),
    _long(
        "definition 3.9",
        "cut(s, t) is s up to t and 0 after it; cuts commute, and cutting twice is cutting.",
        "cut_commutes",
        defined="theorems.calculus.cutting.cut",
        lean="cut_cut, cut_comm, cut_idem",
    ),
    _long(
        "lemma 3.10",
        "T is causal if and only if cut(T(s, r), t) = cut(T(cut(s, t), cut(r, t)), t).",
        "causal_cut, causal_composition",
    ),
    _again("3.11", "5.1"),
    _again("3.12", "2.8"),
    _long(
        "definition 3.13",
        "The strict cut of s at t is s before t, and 0 from t on.",
        "causal_cut",
        defined="theorems.calculus.cutting.cut",
        lean="cut",
    ),
    _again("3.14", "2.9"),
    _long(
        "lemma 3.15",
        "a -> T(s, F(a)) is strict for causal T and strict F.",
        "feedback_body_strict",
        lean="feedback_ckt_body_strict",
    ),
    _long(
        "corollary 3.16", "cut(fix a. F(a), t) = fix a. cut(F(a), t) for strict F.", "fixpoint_cut"
    ),
    _again("3.17", "2.10", "corollary"),
    _long(
        "proposition 3.18",
        "Causal operators compose; pairs of strict ones, swapped, are strict: mutual recursion.",
        "causal_composition, mutual_fixpoint",
    ),
    _long(
        "proposition 3.19",
        "Streams are an abelian group, lifting keeps homomorphisms, and A x B is a group.",
        "stream_group, lifting_linear, product_group",
        lean="stream_group, lifting_linear, derivative_sprod, integral_sprod",
    ),
    _again("3.20", "2.12"),
    _again("3.21", "2.13"),
    _long(
        "proposition 3.22",
        "S(T(a, b)) is bilinear for bilinear T and linear S.",
        "bilinear_after_linear, join_after_linear",
    ),
    _again("3.23", "2.14"),
    _long(
        "proposition 3.24",
        "fix a. G(T(s, F(a))) = G(fix b. T(s, F(G(b)))) for causal T and G, strict F.",
        "loop_sliding",
    ),
    _again("3.25", "2.15"),
    _again("3.26", "2.16"),
    _again("3.27", "2.17"),
    _again("3.28", "2.18"),
    _again("3.29", "2.19"),
    _again("3.30", "2.20"),
)
_LONG_RELATIONS = (
    _again("4.1", "4.1"),
    _again("4.2", "4.2"),
    _again("4.3", "4.3"),
    _long(
        "proposition 4.4",
        "distinct(distinct(m)) = distinct(m).",
        "distinct_idempotent",
        lean="distinct_idem",
    ),
    _long(
        "proposition 4.5",
        "distinct(m) is a set, and positive.",
        "distinct_idempotent, isset_preserved, positive_preserved",
        lean="distinct_is_set, distinct_is_bag",
    ),
    _long(
        "definition 4.6",
        "A stream is positive when its value is positive at every tick.",
        "positive_integral_monotone",
        defined="theorems.tables.relations.Growth.positive",
        lean="positive",
    ),
    _long(
        "definition 4.7",
        "A stream is monotone when s[t] >= s[t - 1] at every tick.",
        "positive_integral_monotone",
        defined="theorems.tables.relations.Growth.monotone",
        lean="stream_monotone",
    ),
    _long(
        "lemma 4.8",
        "I(s) is monotone for positive s.",
        "positive_integral_monotone",
        lean="integral_monotone",
    ),
    _long(
        "lemma 4.9",
        "D(s) is positive for monotone s.",
        "positive_integral_monotone",
        lean="derivative_pos, derivative_pos_counter_example",
        remark="False at t = 0 as printed: D(s)[0] is s[0], any value. Proved for t > 0.",
    ),
)
_LONG_INCREMENTS = (
    _again("5.1", "3.1"),
    _again("5.2", "3.2"),
    _long(
        "lemma 5.3",
        "I(b) = a for the solutions of a = T(I(d), z(a)) and of b = T^inc(d, z(b)).",
        "incremental_cycle",
        lean="cycle_incremental",
    ),
    _again("5.4", "3.3"),
    _again("5.5", "3.4"),
    _again("6.1", "4.4"),
    _again("6.2", "4.5"),
    _again("6.3", "4.7"),
    _again("6.4", "4.6"),
)
_LONG_NESTED = (
    _long(
        "definition 7.1",
        "delta0(v) is v at the first tick, and 0 after it.",
        "introduction_linear",
        defined="theorems.loops.elimination.Elimination",
        lean="δ0",
    ),
    _long(
        "definition 7.2",
        "int(s) is the sum of all values of a stream that is zero almost everywhere.",
        "zero_almost_everywhere, elimination_linear",
        defined="theorems.loops.elimination.Elimination",
        lean="stream_elim",
    ),
    _long(
        "proposition 7.3",
        "int(D(s)) is the limit of a monotone s, if there is one.",
        "recursive_circuit, while_loop",
        remark='The authors mark it "almost right, but it is not", and no limit is defined. Proved '
        "where it is used: for iterations that come to rest, int(D(s)) is the value they rest at.",
    ),
    _long(
        "proposition 7.4",
        "delta0, int, E = I o delta0 and X = int o D are LTI.",
        "introduction_linear, elimination_linear, constant_stream, integrate_linear, "
        "linear_compose",
        lean="delta_linear, stream_elim_linear, stream_elim_time_invariant, integral_delta",
    ),
    _long(
        "proposition 7.5",
        "int o Q o delta0 maps 0 to 0 for every TI Q.",
        "introduction_of_zero",
        lean="nested_zpp",
    ),
    _again("7.6", "6.1"),
    _again("7.7", "6.2"),
    _long(
        "theorem 7.8",
        "o = lift(Q)(delta0(i) + z(o)) is Q applied t + 1 times to i: o[t] = Q^(t+1)(i).",
        "while_loop",
    ),
)
_LONG_RECURSION = (
    _again("8.1", "5.3"),
    _again("8.2", "5.4"),
    _long(
        "theorem 8.3",
        "The circuit of mutually recursive rules computes all relations that they define.",
        "mutual_recursion, mutual_fixpoint, recursion_least",
        remark="The proof is left open there. Here: n relations are one relation of tuples.",
    ),
)
_LONG_REST = (
    _long(
        "theorem 12.1",
        "All inputs and outputs of a well-formed circuit are streams of the same depth.",
        remark="A matter of types, and no condition for a solver: streams and streams of streams "
        "are different sorts here, and z3 refuses a circuit that confuses them.",
    ),
    _long(
        "proposition 14.1",
        "Flatmap is positive: it turns bags into bags.",
        "sum_positive",
        lean="map_at_nonneg",
    ),
    _long(
        "definition A.1",
        "The z-transform of s is the power series whose coefficients are s[0], s[1], ...",
        "convolution_ring",
        defined="theorems.calculus.convolution.Series",
    ),
    _long(
        "definition A.2",
        "The Cauchy product (s * r)[t] is the sum of s[i] r[t - i] for i <= t.",
        "convolution_ring, convolution_of_identity",
        defined="theorems.calculus.convolution.convolved",
        remark="The example is printed 0 0 1 4 8: naturals times naturals begin 0 0 1 4 10.",
    ),
    _long(
        "proposition A.3",
        "Streams with + and * are a commutative ring: formal power series.",
        "convolution_ring",
        remark="Proved over the integers, and not over an arbitrary commutative ring.",
    ),
)
ITEMS: tuple[Item, ...] = (
    *_IN_PAPER,
    *_LONG_STREAMS,
    *_LONG_RELATIONS,
    *_LONG_INCREMENTS,
    *_LONG_NESTED,
    *_LONG_RECURSION,
    *_LONG_REST,
)

UNNUMBERED: tuple[Claim, ...] = (
    _claim(
        "section 2.2",
        "TI operators compose, causal ones too; z is TI and strict; strict operators are causal.",
        "causal_composition, integrate_linear, delay_strict, strict_is_causal",
    ),
    _claim(
        "section 2.2",
        "Lifted operators are causal, and TI exactly if they map 0 to 0.",
        "lifting_causal, lifting_time_invariance",
    ),
    _claim(
        "section 2.3",
        "lift(f) is LTI for linear f and bilinear for bilinear f; +, - and z are LTI.",
        "lifting_linear, integrate_linear, linear_compose, delay_linear_time_invariant",
    ),
    _claim("section 4.1", "Z-sets are an abelian group.", "zset_group"),
    _claim("section 4.1", "A set is positive; >= is a partial order of Z-sets.", "positive_order"),
    _claim(
        "table 1",
        "UNION, EXCEPT, INTERSECT, WHERE, product, join, projection: sets in, the right set out.",
        "toset_commutes, toset_map",
    ),
    _claim(
        "table 1",
        "Filter, projection and map are linear; product, join and intersection are bilinear.",
        "filter_linear, map_linear, join_bilinear, join_is_filtered_product, intersect_bilinear",
    ),
    _claim(
        "table 1",
        "Which operators keep sets sets, and bags bags.",
        "isset_preserved, positive_preserved, sum_positive",
    ),
    _claim(
        "section 4.4",
        "What an increment puts out, only rows and groups of its input's change can cause.",
        "distinct_frame, rowwise_increment, presence_increment, aggregate_increment",
    ),
    _claim("section 5", "I(delta0(v)) is v at every tick.", "constant_stream"),
    _claim(
        "equation 5.1",
        "Semi-naive evaluation is naive evaluation, by the cycle rule.",
        "seminaive_evaluation",
    ),
    _claim(
        "section 6",
        "A strict operator on streams of streams has exactly one fixpoint.",
        "nested_fixpoint",
    ),
    _claim(
        "section 6",
        "z, D and I by tick commute with lift(z), lift(D) and lift(I).",
        "clocks_commute, nested_ztransform",
    ),
    _claim(
        "section 6",
        "The incremental version of an incremental join is four joins; that of distinct, two H.",
        "doubly_incremental_join, doubly_incremental_distinct, nested_ztransform",
    ),
    _claim(
        "equation 6.1",
        "The incremental recursive circuit is the increment of the lifted semi-naive one.",
        "incremental_recursion, recursion_seminaive, transitive_closure_incremental",
    ),
    _claim(
        "section 6.1",
        "The incremental circuit never iterates longer than the circuits of the two snapshots.",
        "nested_iterations_bounded",
    ),
    _claim("section 7.1", "UNION ALL is +.", "union_all_linear"),
    _claim("section 7.2", "COUNT and SUM are linear.", "count_linear, sum_linear"),
    _claim(
        "section 7.2",
        "MIN is not linear, nor is makeset, which puts a scalar into a row (wrong variants).",
        "min_max_insertions, min_max_reevaluation, linear_aggregate_linear",
    ),
    _claim(
        "section 7.2, footnote", "SUM skips NULL, and is NULL over nothing.", "aggregate_skips_null"
    ),
    _claim("section 7.3", "Grouping is linear for every key function.", "grouping_linear"),
    _claim(
        "section 7.4",
        "Aggregating groups by a linear function is linear; so is flatmap.",
        "linear_aggregate_linear, flat_map_linear",
    ),
    _claim(
        "section 7.4",
        "Any function of a group is evaluated again only for groups that changed.",
        "grouped_increment, aggregate_increment",
    ),
    _claim(
        "section 7.5",
        "W(I(s)) = fix a. W(s + z(a)) for a window whose lower end never moves back.",
        "monotone_window, window_ztransform",
    ),
    _claim("section 7.6", "A while loop over a query is a circuit.", "while_loop"),
)

BEYOND: tuple[Claim, ...] = (
    _claim(
        "increments",
        "lift(Q)^inc(d) is Q(before + d) - Q(before), for any Q at all.",
        "general_increment",
    ),
    _claim(
        "joins of n tables",
        "The increment of an n-way join is n joins, for every n.",
        "nary_join_increment, join_nway_ztransform",
    ),
    _claim(
        "semi and anti join",
        "Only rows of the change, and rows whose presence changes, come or go.",
        "presence_increment",
    ),
    _claim(
        "semi and anti join",
        "Presence as mass > 0 and as mass != 0 agree for tables that are bags.",
        "presence_semantics",
    ),
    _claim(
        "outer joins",
        "Rows padded with NULL come and go with the presence of a partner.",
        "outer_join_increment",
    ),
    _claim(
        "sharding",
        "A query that is local to keys runs shard by shard, and so does a join.",
        "sharded_query, sharded_join",
    ),
    _claim(
        "temporal filters",
        "A clock that moves changes the rows whose bound it passes.",
        "temporal_filter_increment",
    ),
    _claim(
        "state clean-up",
        "State below the watermark may be dropped, and what a join can no longer reach.",
        "state_cleanup, join_state_cleanup",
    ),
    _claim("upserts", "A stream of upserts is a stream of Z-sets.", "upsert_to_zset"),
    _claim(
        "AVG and VARIANCE",
        "Neither is linear; both are functions of linear aggregates.",
        "avg_from_sums, variance_from_sums",
    ),
    _claim(
        "groups",
        "COUNT(*) = 0 says that a group is empty, over bags.",
        "count_zero_empty, aggregate_group_exists",
    ),
    _claim(
        "MIN and MAX",
        "Insertions need the old extreme only; deletions what else is in the group.",
        "min_max_insertions, min_max_reevaluation",
    ),
    _claim(
        "top k",
        "The first k of two tables are the first k of their first k.",
        "top_k_merge, top_k_weight",
    ),
    _claim("three-valued logic", "De Morgan's laws hold with NULL.", "truth_de_morgan"),
    _claim(
        "three-valued logic",
        "A table is its rows where p, where NOT p, and where p is NULL.",
        "where_partition",
    ),
    _claim("three-valued logic", "NOT IN is the anti join only without NULLs.", "not_in_anti_join"),
)


def numbered(word: str) -> tuple[Item, ...]:
    """The items of this number: "4.7" in the paper, "TR 4.9" in the long version.

    >>> [(item.kind, item.theorems) for item in numbered("4.7")]
    [('proposition', ('distinct_increment', 'distinct_frame'))]

    >>> [(item.kind, item.statement) for item in numbered("tr 4.9")]
    [('lemma', 'D(s) is positive for monotone s.')]

    >>> numbered("9.99")
    ()
    """
    wanted = " ".join(word.upper().split())
    return tuple(item for item in ITEMS if item.word == wanted)
