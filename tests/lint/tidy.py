#!/usr/bin/env python3
"""Runs clang-tidy 14 over the C++ sources of a build directory (its compile_commands.json).

A source that was clean is not looked at again until it, a project header that it includes, its
compile command or .clang-tidy changes. CUDA sources are left to nvcc.

Exit codes: 0 clean, 1 not clean, 2 usage. Says SKIPPED where clang-tidy 14 is missing.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from format import tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIM = ROOT / "tests/lint/source_location.hpp"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# Flags that GCC knows and clang does not.
GCC_ONLY = re.compile(r"-fno-sanitize-recover=.*|-Wno-tsan|-fconcepts-diagnostics-depth=.*")


def entries(build, patterns):
    """The project's C++ sources, each with its first command; generated ones are left out."""
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = pathlib.Path(entry["file"])
        inside = file.is_relative_to(ROOT) and not file.is_relative_to(build)
        if file.suffix == ".cpp" and inside and all(re.search(p, str(file)) for p in patterns) and file not in seen:
            seen.add(file)
            yield file, entry["command"]


def closure(file, include_paths, seen):
    """The source and all headers of the project that it includes, also indirectly."""
    if file in seen or not file.is_file():
        return
    seen.add(file)
    for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        for base in (file.parent, *include_paths):
            if (base / name).is_file():
                closure((base / name).resolve(), include_paths, seen)
                break


def key_of(file, command):
    """Changes whenever the verdict on a source may."""
    words = shlex.split(command)
    include_paths = [pathlib.Path(word[2:]) for word in words if word.startswith("-I")]
    files = set()
    closure(file, include_paths, files)
    digest = hashlib.sha256(command.encode())
    for part in [ROOT / ".clang-tidy", SHIM, *sorted(files)]:
        digest.update(str(part).encode())
        digest.update(part.read_bytes())
    return digest.hexdigest()


def check(clang_tidy, cache, file, command):
    """The complaints about one source; empty where it is clean."""
    mark = cache / key_of(file, command)
    if mark.exists():
        return ""
    words = [word for word in shlex.split(command) if not GCC_ONLY.fullmatch(word)]
    compiler = next(i for i, word in enumerate(words) if re.search(r"(c\+\+|g\+\+|clang\+\+)[-0-9]*$", word))
    # -Wno-unknown-warning-option: the flags are those of GCC.
    flags = ["-Wno-unknown-warning-option", "-include", str(SHIM), *words[compiler + 1 :]]
    result = subprocess.run(
        [clang_tidy, "--quiet", str(file), "--", *flags], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode == 0:
        mark.touch()
        return ""
    return result.stdout + (result.stderr if "error:" not in result.stdout else "")


def main():
    parser = argparse.ArgumentParser(description="Runs clang-tidy over the sources of a build directory.")
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("patterns", nargs="*", help="only sources whose path matches all of these")
    arguments = parser.parse_args()
    clang_tidy = tool("clang-tidy")
    if not clang_tidy:
        print("SKIPPED: there is no clang-tidy 14")
        return 0
    build = arguments.build.resolve()
    cache = build / "tidy-clean"
    cache.mkdir(exist_ok=True)
    work = list(entries(build, arguments.patterns))
    if not work:
        print("clang-tidy: no source matches", file=sys.stderr)
        return 2
    dirty = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {pool.submit(check, clang_tidy, cache, file, command): file for file, command in work}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            if future.result():
                dirty += 1
                print(future.result(), flush=True)
            print(f"[{done}/{len(work)}] {futures[future].relative_to(ROOT)}", file=sys.stderr, flush=True)
    print(f"clang-tidy: {len(work)} sources, {dirty} not clean" if dirty else f"clang-tidy: {len(work)} sources, clean")
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main())
