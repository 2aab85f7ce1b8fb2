"""Z-sets, sums over tables of any size, sets and groups among them, and what engines do to tables.

    zsets, sums, positive_sums    finite support, by induction on it
    relations, confluence         sets as Z-sets, and where distinct may move
    indexed, grouped              groups, and any function of a group
    three_valued, nulls           NULL
    sharding, lateness, upserts, batching    beyond the paper

Chapters `zsets`, `relations`, `aggregates`, `logic` and `engine`.
"""
