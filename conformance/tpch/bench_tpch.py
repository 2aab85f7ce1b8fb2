"""TPC-H on Spark at the benchmark's own scale: each query's load and refreshes, checked by DuckDB.

    python -m deltaproof.conformance.tpch.bench_tpch                  all 22 queries, scale 1
    python -m deltaproof.conformance.tpch.bench_tpch q01 q06 --scale 0.1 --ticks 4

One query at a time, each with an engine of its own, whose memory is freed before the next. The
load comes as Arrow above scale 0.1 and stays Arrow on its way into Spark. Every tick is compared
with what DuckDB makes of the same tables. Spark gets a heap of 10 GB, unless
DELTAPROOF_SPARK_MEMORY says otherwise; what does not fit into it goes to disk.
"""

from __future__ import annotations

import os

import click

HEAP = "10g"


@click.command()
@click.argument("queries", nargs=-1, metavar="[QUERY]...")
@click.option("--scale", type=click.FloatRange(0.001, 100), default=1.0, show_default=True)
@click.option("--ticks", type=click.IntRange(1, 50), default=3, show_default=True)
def main(queries: tuple[str, ...], scale: float, ticks: int) -> None:
    """Measure queries of TPC-H on Spark, one after the other."""
    os.environ.setdefault("DELTAPROOF_SPARK_MEMORY", HEAP)  # read when Spark's module is imported
    from deltaproof.conformance.connect import backend
    from deltaproof.conformance.tpch.run import QueryRun, tpch_run, verdict
    from deltaproof.conformance.tpch.schema import QUERIES

    def said(run: QueryRun) -> None:
        took = f"load {run.load_seconds:.1f} s, tick {1_000 * run.tick_seconds:.0f} ms"
        why, _, _ = run.result.error.partition("\n")
        click.echo(f"{run.query}: {verdict(run.result)}, {took} {why}".rstrip(), err=True)

    report = tpch_run([backend("spark")], queries or QUERIES, scale, ticks, finished=said)
    click.echo("\n".join(report.lines()))
    raise SystemExit(not report.ok)


if __name__ == "__main__":
    main()
