#!/usr/bin/env python3
"""Checks that include/muster/README.md, the reading order, links every public header, and no other.

Exit codes: 0 complete, 1 not (one line each).
"""
import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include" / "muster"


def main():
    text = (INCLUDE / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)]+\.(?:hpp|cuh))\)", text))
    present = {file.relative_to(INCLUDE).as_posix() for file in INCLUDE.rglob("*") if file.suffix in (".hpp", ".cuh")}
    wrong = [f"include/muster/README.md: {name} is missing" for name in sorted(present - linked)]
    wrong += [f"include/muster/README.md: {name} does not exist" for name in sorted(linked - present)]
    print("\n".join(wrong) if wrong else f"reading order: {len(present)} headers, complete")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
