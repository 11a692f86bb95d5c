#!/usr/bin/env python3
"""Compares two commits on one GPU: two ranks share it, and the programs of both take turns.

    compare.py BASE NEW [--rounds N] [--out FILE]

BASE and NEW are NAME:TREE:BUILD: the commit's name for the table, its checkout, and the directory where it
was built as a release with CUDA (`cmake --preset cuda`; libmuster_gpu.a and libmuster_base.a are enough).
nvcc compiles compare/main.cu of THIS tree against each, for the GPU at hand. Ratios are taken within each
round, and their median over the rounds is shown; below 1: NEW is faster. FILE is the table as Markdown.
"""
import argparse
import collections
import concurrent.futures
import datetime
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "compare"
PARTS = range(4)


def ask(field):
    """What nvidia-smi says of the first GPU."""
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0].strip()


def build(side, part, folder):
    """The program of one part of one commit."""
    name, tree, libraries = side
    program = folder / f"{name}.{part}"
    subprocess.run(
        ["nvcc", "-arch=native", "-std=c++20", "-O3", "-DNDEBUG", "-w", f"-DPART={part}", f"-I{tree}/include",
         "-o", program, HERE / "main.cu", f"{libraries}/libmuster_gpu.a", f"{libraries}/libmuster_base.a", "-lfmt"],
        check=True)
    return program


def measure(program):
    """{case: nanoseconds}, in the program's order."""
    run = subprocess.run([program], capture_output=True, text=True, timeout=120)
    lines = run.stdout.splitlines()
    if run.returncode != 0:
        sys.exit(f"compare.py: {program.name}: {' '.join(lines[-1:])} {run.stderr}")
    return {case: float(time) for case, _, time in (line.partition("|") for line in lines)}


def table(base, new, times):
    """Lines of Markdown."""
    yield f"| case | {base}, ns | {new} / {base} |"
    yield "| --- | ---: | ---: |"
    for case, by_side in times.items():
        ratio = statistics.median(b / a for a, b in zip(*by_side))
        yield f"| {case} | {statistics.median(by_side[0]):.1f} | {ratio:.3f} |"


def summary(times):
    """Of each kind of case, the geometric mean of the ratios."""
    kinds = collections.defaultdict(list)
    for case, by_side in times.items():
        words = case.replace(",", "").split()
        kinds[f"{words[0]}, {words[-2] + ' ' if words[-2] == 'dithered' else ''}{words[-1]}"].append(
            statistics.median(b / a for a, b in zip(*by_side)))
    for kind, ratios in kinds.items():
        yield f"| {kind} | {len(ratios)} | {statistics.geometric_mean(ratios):.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    sides = [tuple(side.split(":")) for side in (arguments.base, arguments.new)]
    if any(len(side) != 3 for side in sides) or sides[0][0] == sides[1][0]:
        parser.error("BASE and NEW are NAME:TREE:BUILD, with two names")
    times = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = [[pool.submit(build, side, part, pathlib.Path(folder)) for side in sides] for part in PARTS]
        programs = [[job.result() for job in pair] for pair in jobs]
        for number in range(arguments.rounds):
            for pair in programs:
                order = (0, 1) if number % 2 == 0 else (1, 0)
                for side in order:
                    for case, time in measure(pair[side]).items():
                        times.setdefault(case, ([], []))[side].append(time)
    base, new = sides[0][0], sides[1][0]
    gpu = ask("name,driver_version")
    compiler = subprocess.run(["nvcc", "--version"], check=True, capture_output=True,
                              text=True).stdout.splitlines()[-2].strip()
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
    lines = [f"# {new} beside {base}, two ranks on one GPU", "",
             f"{date}, {gpu}; {compiler}; median of {arguments.rounds} rounds", "",
             f"    bench/gpu/compare.py {shlex.join(sys.argv[1:])}", "", "| kind | cases | geometric mean |",
             "| --- | ---: | ---: |", *summary(times), "", *table(base, new, times)]
    print("\n".join(lines))
    if arguments.out:
        pathlib.Path(arguments.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
