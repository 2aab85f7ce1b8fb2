"""Streams, operators on streams, and every circuit made of them.

    streams      ticks, groups, z, D and I
    causality    causal and strict operators, and their fixpoints: the tools
    causal, cutting, feedback, pairs    what is proved with them
    linearity, linear, linear_causality, multilinear    linear and bilinear operators over time
    incremental  D ∘ Q ∘ I for any Q: section 3
    wiring, algorithm    circuits as values, and algorithm 4.6 for all of them
    convolution, ztransform, circuit_algebra    the same circuits as fractions
    plans        what the planner makes of a query, proved equal to it

Chapters `streams`, `causality`, `increments`, `circuits` and `algebra`.
"""
