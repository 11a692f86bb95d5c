#!/usr/bin/env python3
"""Writes results/results.md from the JSON files that `muster bench ... --json` left in results/.

usage: bench/tabulate.py [DIRECTORY]     (default: results/ beside this file)
"""

import json
import pathlib
import sys


def number(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def rows(contenders):
    for one in contenders:
        if "why_not" in one:
            yield f"| {one['name']} | {one['as']} | | | | | {one['why_not']} |"
            continue
        digits = 1 if one["median_ns"] < 1000 else 0
        cells = [
            one["name"],
            one["as"],
            number(one["median_ns"], digits),
            f"{number(one['min_ns'], digits)} to {number(one['max_ns'], digits)}",
            number(one["ratio_to_floor"], 2),
            number(one["ratio_to_bare"], 2),
            number(one["ratio_to_best_peer"], 2),
        ]
        yield "| " + " | ".join(cells) + " |"


def section(run):
    machine, build = run["machine"], run["build"]
    size = f" of {run['bytes']} B" if "bytes" in run else ""
    yield f"## {run['topic']}{size} on {run['ranks']} ranks as {run['as']}, fabric {run['fabric']}"
    yield ""
    yield (
        f"{run['date']}, {machine['cpu']}, {len(machine['cores'])} cores, {machine['kernel']}; "
        f"{build['compiler']}, commit {build['commit']}; median of {run['rounds']} rounds of "
        f"{run['blocks_per_round']} blocks"
    )
    yield ""
    yield f"    {run['command']}"
    yield ""
    for warning in run["warnings"]:
        yield f"**Not a quiet measurement**: {warning}."
        yield ""
    yield "| contender | as | ns | least to most | / floor | / bare | / best peer |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    yield from rows(run["contenders"])
    yield ""


def main(arguments):
    if len(arguments) > 1:
        sys.exit(__doc__)
    default = pathlib.Path(__file__).parent / "results"
    directory = pathlib.Path(arguments[0]) if arguments else default
    if not directory.is_dir():
        sys.exit(f"{directory} is no directory")
    runs = []
    for path in directory.glob("*.json"):
        reports = json.loads(path.read_text())  # a list of them where the topic has sizes
        runs.extend(reports if isinstance(reports, list) else [reports])
    if not runs:
        sys.exit(f"there is no result in {directory}: run ./dev bench")
    runs.sort(
        key=lambda run: (
            run["topic"],
            run["fabric"],
            run["as"],
            run["ranks"],
            run.get("bytes", 0),
            run["date"],
        )
    )
    lines = ["# Results", "", "Written by bench/tabulate.py; README.md says how to read it.", ""]
    for run in runs:
        lines.extend(section(run))
    (directory / "results.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
