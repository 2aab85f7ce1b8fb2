"""Queries that iterate, and streams of streams.

    elimination, iteration, window    a loop as a stream, in and out of it
    nested, nested_increments, nested_recursion    two clocks
    transitive_closure    the whole circuit of section 6, on all small graphs

Chapters `recursion` and `nested`.
"""
