#!/usr/bin/env python3
"""Checks that the files which comments and pages name are there.

In a comment or a page, a word that ends as a source file does (.hpp, .cu, .py, .md, ...) names a file of this repository:
by its path, or by the end of it ("transfer/chunk.hpp", "chunk.hpp"). Not looked at: #include lines and all other code,
code blocks of pages, examples in comments of CMake and shell files (three spaces in), made-up names of one letter or
with an upper-case word, patterns with a * or a $, and the names in ELSEWHERE.

Exit codes: 0 clean, 1 violations (one line each).
"""
import pathlib
import re
import subprocess
import sys

# Files that are made by the build or by its user, or belong to somebody else.
ELSEWHERE = {
    "CMakeLists.txt",
    "commit.hpp",
    "verbs.cpp",
    "build_info.cpp",
}

WORD = re.compile(r"(?<![\w./<$*{-])(?:[\w-]+/)*[\w-]+\.(?:hpp|cpp|cuh|cu|py|sh|md|cmake|txt)(?![\w/*])")
MADE_UP = re.compile(r"\b(?:[A-Z]{3,}(?:_[A-Z]+)*|[a-z])[./]")
SLASHES = {".hpp", ".cpp", ".cuh", ".cu"}
HASHES = {".py", ".sh", ".cmake", ".txt"}


def comments_of(path, text):
    """(line number, text) of what is prose in a file."""
    suffix = path.suffix
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if suffix == ".md":
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced and not line.startswith("    "):
                yield number, line
        elif suffix in SLASHES:
            found = re.search(r"(?<![:\"])//(.*)", line)
            if found:
                yield number, found.group(1)
        elif suffix in HASHES or path.name == "dev":
            found = re.search(r"(?:^|\s)#(?! {3})(.*)", line)
            if found:
                yield number, found.group(1)


def violations(files, read):
    """One line for each name of a file that is not among `files` (paths from the root)."""
    ends = set(ELSEWHERE)
    for file in files:
        parts = file.split("/")
        ends.update("/".join(parts[at:]) for at in range(len(parts)))
    for file in files:
        path = pathlib.PurePosixPath(file)
        if path.suffix not in SLASHES | HASHES | {".md"} and path.name != "dev":
            continue
        for number, line in comments_of(path, read(file)):
            for name in WORD.findall(line):
                if name not in ends and not MADE_UP.search(name):
                    yield f"{file}:{number}: there is no {name}"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if listed.returncode != 0:
        print("SKIPPED: this is no git checkout")
        return 0
    files = [file for file in listed.stdout.splitlines() if (root / file).is_file()]
    found = list(violations(files, lambda file: (root / file).read_text(encoding="utf-8", errors="replace")))
    print("\n".join(found) if found else f"named files: {len(files)} files, all names lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
