#!/usr/bin/env python3
"""Checks that what was added to muster has all that belongs to it: docs/contributing.md says what, and why.

A barrier is a class Barrier or NAMEBarrier in include/muster/barrier, on whatever base; a kind of report an enumerator of Kind in
include/muster/check/report.hpp; conformance bodies are the headers *_bodies.hpp in tests/conformance. Each must be named in
at least one file of each of its places. Exit codes: 0 complete, 1 not (one line each).
"""
import pathlib
import re
import sys

WORD = r"\bNAME\b"

# What it is called there, and the files.
BARRIER_PLACES = {
    "the reading order": (WORD, ["include/muster/README.md"]),
    "the builtin checks": (WORD, ["src/check/builtin/*.cpp"]),
    "the cost cards": (WORD, ["tests/unit/cost_card*_test.cpp"]),
    "the conformance bodies": (WORD, ["tests/conformance/*_bodies.hpp"]),
    "the kernels that must compile": (WORD, ["tests/gpu/kernels.cu"]),
}
BARRIER_HEADER_PLACES = {"the header of all barriers": (r'"muster/barrier/NAME"', ["include/muster/barrier.hpp"])}
KIND_PLACES = {
    "the names of kinds": (r"Kind::NAME\b", ["src/check/names.cpp"]),
    "the table of kinds": (r"(?m)^\| SPOKEN \|", ["docs/checking.md"]),
    "the tests that expect one": (
        r"(?:Kind::|MUSTER_BROKEN\w*\(\w+, |EXPECT_FINDS\(\w+, )NAME\b",
        ["tests/broken/*.cpp", "tests/check/*.cpp"],
    ),
}
BODY_PLACES = {
    "the tests of the host": (WORD, ["tests/conformance/host_*_test.cpp"]),
    "the tests of the GPU's code": (WORD, ["tests/gpu/*_test.cpp"]),
}
# Kinds of a model that is not built yet.
KINDS_TO_COME = {"scope", "domain", "noncoherent"}


def barriers_of(root):
    """(name, header) of each barrier."""
    for header in sorted((root / "include/muster/barrier").glob("*.hpp")):
        for name in re.findall(r"^class (\w*Barrier)(?: final)?\s*(?::[^;{]*)?\{", header.read_text(encoding="utf-8"), re.MULTILINE):
            yield name, header.name


def kinds_of(root):
    report = (root / "include/muster/check/report.hpp").read_text(encoding="utf-8")
    enumerators = re.search(r"enum class Kind[^{]*\{(.*?)\};", report, re.DOTALL).group(1)
    return [name for name in re.findall(r"^\s*(\w+),", enumerators, re.MULTILINE) if name not in KINDS_TO_COME]


def missing(root, what, names, places):
    for place, (called, patterns) in places.items():
        files = [file for pattern in patterns for file in sorted(root.glob(pattern))]
        text = "\n".join(file.read_text(encoding="utf-8") for file in files)
        for name in names:
            wanted = called.replace("NAME", re.escape(name)).replace("SPOKEN", name.replace("_", " "))
            if not re.search(wanted, text):
                yield f"{what} {name} is missing from {place} ({', '.join(patterns)})"


def incomplete(root):
    """One line for each gap."""
    barriers = list(barriers_of(root))
    yield from missing(root, "the barrier", [name for name, _ in barriers], BARRIER_PLACES)
    yield from missing(root, "the header", [header for _, header in barriers], BARRIER_HEADER_PLACES)
    yield from missing(root, "the kind", kinds_of(root), KIND_PLACES)
    bodies = sorted(file.name for file in (root / "tests/conformance").glob("*_bodies.hpp"))
    yield from missing(root, "the header", bodies, BODY_PLACES)


def main():
    found = list(incomplete(pathlib.Path(__file__).resolve().parents[2]))
    print("\n".join(found) if found else "complete: every barrier, kind and conformance body is where it belongs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
