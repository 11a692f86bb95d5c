#!/usr/bin/env python3
"""Checks who includes whom.

    types, result <- fabric (the concept) <- transfer <- barrier <- collective <- team <- cli

A fabric sees types (operators on them among these), result and the concept (the model also the checker); barriers and collectives
never include a fabric. Exit codes: 0 clean, 1 violations (one line each), 2 usage.
"""
import argparse
import pathlib
import re
import sys

# Which layer a file belongs to: the first pattern that matches its path from the root.
LAYERS = [
    (r"include/muster/(types|half|reduce)\.hpp", "types"),
    (r"include/muster/result\.hpp", "result"),
    (r"include/muster/(expect|fabric|hints)\.hpp", "fabric"),
    (r"include/muster/fabric/(call|refinements|sentinel|set_up)\.hpp", "fabric"),
    (r"include/muster/transfer(\.hpp|/.*)", "transfer"),
    (r"include/muster/barrier(\.hpp|/.*)", "barrier"),
    (r"include/muster/(collective|handoff|packet|sentinel)(\.hpp|/.*)", "collective"),
    (r"include/muster/fabric/model(\.hpp|/.*)", "fabric-model"),
    (r"include/muster/fabric/(host|gpu|ucx)(\.hpp|\.cuh|/.*)", r"fabric-\1"),
    (r"include/muster/check(\.hpp|/.*)", "check"),
    (r"include/muster/task(\.hpp|/.*)", "task"),
    (r"include/muster/(team|run|window|signal|muster)(\.hpp|/.*)", "team"),
    (r"src/fabric/model/.*", "check-source"),
    (r"src/fabric/(host|gpu|ucx)/.*", r"source-\1"),
    (r"src/base/.*", "base"),
    (r"src/net/.*", "net"),
    (r"src/launch/.*", "launch"),
    (r"src/team/.*", "team"),
    (r"src/task/.*", "source-task"),
    (r"src/check/.*", "check-source"),
    (r"src/litmus/.*", "litmus"),
    (r"src/bench/.*", "bench"),
    (r"src/cli/.*", "cli"),
    (r"(examples|bench)/.*", "program"),
]

CONCEPT = ["types", "result", "fabric"]
PROTOCOLS = CONCEPT + ["transfer", "barrier", "collective"]
MODEL = ["fabric-model", "check"]
HOST = ["fabric-host", "source-host", "launch", "team", "task", "base"]
GPU = ["fabric-gpu", "source-gpu"]

# What a layer may include, besides itself.
ALLOWED = {
    "types": [],
    "result": ["types"],
    "fabric": ["types", "result"],
    "transfer": CONCEPT,
    "barrier": CONCEPT + ["transfer"],
    "collective": CONCEPT + ["transfer", "barrier"],
    "fabric-host": CONCEPT,
    "fabric-gpu": CONCEPT,
    # Tiles are the host's, and so will peers on the own host be.
    "fabric-ucx": CONCEPT + ["fabric-host"],
    "fabric-model": CONCEPT + ["check"],
    "check": CONCEPT + ["fabric-model"],
    # Tasks know no fabric; the engine of each team brings its own.
    "task": CONCEPT,
    "base": CONCEPT + ["task"],
    "launch": ["types", "result", "base"],
    # How ranks of several hosts find each other; it carries no protocol.
    "net": ["types", "result", "base", "launch"],
    "source-host": CONCEPT + ["fabric-host", "base"],
    "source-gpu": CONCEPT + ["fabric-gpu", "base"],
    # Ranks on one host are started, and lanes run, as the host team does it.
    "source-ucx": CONCEPT + ["fabric-ucx", "fabric-host", "team", "launch", "net", "base"],
    # run/ucx.hpp alone has to do with the network's team.
    "team": PROTOCOLS + ["fabric-host", "fabric-ucx", "source-host", "launch", "base"],
    "source-task": CONCEPT + ["task", "fabric-host", "source-host", "team", "base"],
    # The shipped protocols are among what the checker checks; graphs of tasks run on it too.
    "check-source": PROTOCOLS + MODEL + ["base", "task"],
    # Of the checker's engine its memory, with clocks and sets.
    "litmus": ["types", "result", "check", "check-source"],
    "bench": PROTOCOLS + HOST + GPU + MODEL,
    "cli": PROTOCOLS + HOST + GPU + MODEL + ["check-source", "litmus", "bench", "net"],
    # Programs are written as a user would write them: with public headers alone, bar benchmarks.
    "program": PROTOCOLS + HOST + GPU + MODEL + ["bench"],
}

# What a public header never asks its user to have.
PRIVATE_LIBRARIES = re.compile(r"(fmt|nlohmann|CLI|boost|gtest|benchmark|ucp|pmix)[/.]")

# Headers that the build makes: where they would lie if they were written by hand.
GENERATED = {"bench/commit.hpp": "src/bench/commit.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".c"}


def layer_of(path):
    """The layer of a path from the root, or None."""
    for pattern, layer in LAYERS:
        match = re.fullmatch(pattern, path)
        if match:
            return match.expand(layer)
    return None


def resolve(root, path, name):
    """The included file as a path from the root, or None."""
    for base in (root / "include", (root / path).parent, root / "src", root):
        file = (base / name).resolve()
        if file.is_file() and file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return None


def check_include(root, path, layer, quote, name):
    """What is wrong with one include, or None."""
    public = path.startswith("include/")
    if quote == "<":
        if name.startswith("muster/"):
            return f'write #include "{name}", with quotes'
        if public and PRIVATE_LIBRARIES.match(name):
            return f"a public header includes <{name}>, which its user may not have"
        return None
    target = GENERATED.get(name) or resolve(root, path, name)
    if target is None:
        return f'"{name}" is not found'
    if public and not target.startswith("include/"):
        return f'a public header includes "{name}", which is not installed'
    if public and not name.startswith("muster/"):
        return f'"{name}": public headers are named from the root, "muster/..."'
    if path.startswith("examples/") and target.startswith("src/"):
        return f'an example includes "{name}", which its reader does not have'
    other = layer_of(target)
    if other is None:
        return f'"{name}" belongs to no layer; name one in {pathlib.Path(__file__).name}'
    if other != layer and other not in ALLOWED[layer]:
        return f'layer {layer} includes "{name}" of layer {other}'
    return None


def violations(root):
    """One line for each violation, in order of path and line."""
    root = pathlib.Path(root).resolve()
    found = []
    for top in ("include", "src", "examples", "bench"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            path = file.relative_to(root).as_posix()
            layer = layer_of(path)
            if layer is None:
                found.append(f"{path}: belongs to no layer; name one in {pathlib.Path(__file__).name}")
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                wrong = match and check_include(root, path, layer, *match.groups())
                if wrong:
                    found.append(f"{path}:{number}: {wrong}")
    return found


def main():
    parser = argparse.ArgumentParser(description="Checks who includes whom.")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parents[2])
    arguments = parser.parse_args()
    found = violations(arguments.root)
    print("\n".join(found) if found else "include directions: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
