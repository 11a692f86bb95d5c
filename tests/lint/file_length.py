#!/usr/bin/env python3
"""Checks that no source file is longer than 400 lines.

The files in LONG are, still: nothing joins them, and one that has become short enough must leave the list.

Exit codes: 0 clean, 1 violations (one line each).
"""
import pathlib
import subprocess
import sys

MOST = 400
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".c", ".h", ".py", ".sh", ".cmake"}

LONG = set()


def violations(lengths, long=LONG):
    """One line for each file of {path: lines} that is too long, or listed as such and is not."""
    for path, lines in sorted(lengths.items()):
        if lines > MOST and path not in long:
            yield f"{path}: {lines} lines, at most {MOST}: give a part of it a file of its own"
    for path in sorted(long):
        if lengths.get(path, 0) <= MOST:
            yield f"{path}: has at most {MOST} lines now; take it off the list LONG in tests/lint/file_length.py"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split("\0")
    files = [name for name in listed if pathlib.Path(name).suffix in SUFFIXES and (root / name).is_file()]
    lengths = {name: len((root / name).read_text(encoding="utf-8").splitlines()) for name in files}
    found = list(violations(lengths))
    print("\n".join(found) if found else f"file_length: {len(lengths)} files, {len(LONG)} of them longer than {MOST} lines still")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
