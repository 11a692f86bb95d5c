#!/usr/bin/env python3
"""Draws the medians in a file of `muster bench ... --json`: over the sizes where there are several, otherwise over the
numbers of ranks; both axes logarithmic, one line for each contender and variant. Needs matplotlib (python3-matplotlib).

usage: bench/plot.py RESULTS.json CHART.svg     (or .png, .pdf)
"""

import json
import pathlib
import sys

STYLES = {"muster": "-o", "peer": "--s", "floor": ":D", "bare": ":D"}


def runs_of(path):
    content = json.loads(pathlib.Path(path).read_text())
    return [run for run in (content if isinstance(content, list) else [content]) if "skipped" not in run]


def chart_of(runs):
    """(title, caption, label of the axis, {name: (role, [(x, ns), ...])}); ValueError where there is no axis."""
    by_size = len({run.get("bytes") for run in runs}) > 1
    by_ranks = len({run["ranks"] for run in runs}) > 1
    if by_size == by_ranks:
        raise ValueError("a chart needs several sizes (--sizes) or several numbers of ranks (-n 2,4,8), and not both")
    lines = {}
    for run in runs:
        for one in run["contenders"]:
            name = f"{one['name']}, {run['variant']}" if "variant" in run else one["name"]
            _, points = lines.setdefault(name, (one["role"], []))
            if "median_ns" in one:  # a contender that could not be measured has a line in the legend alone
                points.append((run["bytes"] if by_size else run["ranks"], one["median_ns"]))
    for _, points in lines.values():
        points.sort()
    first, machine = runs[0], runs[0]["machine"]
    where = machine.get("devices") or (f"{first['ranks']} ranks as {first['as']}" if by_size else f"ranks as {first['as']}")
    loud = "" if not any(run["warnings"] for run in runs) else "; NOT a quiet measurement"
    caption = (
        f"{first['date']}; {machine['cpu']}, {len(machine['cores'])} cores; commit {first['build']['commit']}; "
        f"median of {first['rounds']} rounds of {first['blocks_per_round']} blocks{loud}"
    )
    label = "bytes of a message" if by_size else "ranks"
    return f"muster bench {first['topic']}: {where}, fabric {first['fabric']}", caption, label, lines


def tick(value):
    """64K for 65536."""
    unit = 0
    while unit < 3 and value >= 1024 and value % 1024 == 0:
        value, unit = value // 1024, unit + 1
    return f"{value}{'KMG'[unit - 1] if unit else ''}"


def draw(chart, path):
    import matplotlib  # pylint: disable=import-outside-toplevel

    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    title, caption, label, lines = chart
    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    for name, (role, points) in lines.items():
        xs, times = zip(*points) if points else ((), ())
        axes.loglog(xs, times, STYLES[role], label=name if points else f"{name} (no times)")
    ticks = sorted({x for _, points in lines.values() for x, _ in points})
    axes.set_xticks(ticks, [tick(x) for x in ticks], rotation=45)
    axes.minorticks_off()
    axes.set(title=title, xlabel=f"{label}\n\n{caption}", ylabel="ns (median)")
    axes.grid(True)
    axes.legend()
    figure.savefig(path)


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    try:
        chart = chart_of(runs_of(arguments[0]))
    except ValueError as error:
        sys.exit(f"{arguments[0]}: {error}")
    try:
        draw(chart, arguments[1])
    except ModuleNotFoundError as error:
        sys.exit(f"bench/plot.py needs matplotlib ({error}): apt-get install python3-matplotlib")


if __name__ == "__main__":
    main(sys.argv[1:])
