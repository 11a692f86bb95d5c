#!/usr/bin/env python3
"""Writes results/results.md from the JSON files that `muster bench ... --json` left in results/ and
in the directories below it. A file holds one table or a list of them.

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


def title(run):
    subject = run["topic"]
    if "bytes" in run:
        subject += f" of {run['bytes']} B"
    if "variant" in run:
        subject += f", {run['variant']}"
    where = run["machine"].get("devices") or f"{run['ranks']} ranks as {run['as']}"
    return f"## {subject} on {where}, fabric {run['fabric']}"


def origin(run):
    machine, build = run["machine"], run["build"]
    parts = [run["date"]]
    if machine["cores"]:
        parts.append(f"{machine['cpu']}, {len(machine['cores'])} cores, {machine['kernel']}")
    return (
        f"{', '.join(parts)}; {build['compiler']}, commit {build['commit']}; median of {run['rounds']} rounds of "
        f"{run['blocks_per_round']} blocks"
    )


def section(run):
    yield title(run)
    yield ""
    yield origin(run)
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


def tables_of(path):
    content = json.loads(path.read_text())
    tables = content if isinstance(content, list) else [content]
    return [table for table in tables if "skipped" not in table]


def main(arguments):
    if len(arguments) > 1:
        sys.exit(__doc__)
    default = pathlib.Path(__file__).parent / "results"
    directory = pathlib.Path(arguments[0]) if arguments else default
    if not directory.is_dir():
        sys.exit(f"{directory} is no directory")
    runs = [table for path in sorted(directory.rglob("*.json")) for table in tables_of(path)]
    if not runs:
        sys.exit(f"there is no result in {directory}: run ./dev bench")
    # Sizes and variants stay in the order in which they were measured.
    runs.sort(key=lambda run: (run["fabric"] != "host", run["topic"], run["as"], run["ranks"], run["date"]))
    lines = ["# Results", "", "Written by bench/tabulate.py; README.md says how to read it.", ""]
    for run in runs:
        lines.extend(section(run))
    (directory / "results.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
