#!/usr/bin/env python3
"""Runs the checker's tests once with each of its rules broken, and says which test notices.

    kill.py VICTIM... [--only NAME] [--markdown]

VICTIM is the program mutant_victim of the build; of several, the first that notices ends it. With --only the
first test that notices ends it, too, the one that docs/mutants.md names before all others; NAME may be `none`:
no rule broken. Exit status 1 where a mutant survives, or where the tests fail with no rule broken.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys


def mutants():
    for line in (pathlib.Path(__file__).parent / "mutants.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, rule = line.split(": ", 1)
            yield name, rule


def known_killer(mutant):
    """The test that docs/mutants.md names for it, as options of a victim that run it alone; none where it names none."""
    table = pathlib.Path(__file__).parents[2] / "docs" / "mutants.md"
    row = re.search(rf"^\| {re.escape(mutant)} \| .* \| (\S+\.\S+)(?: and \d+ more)? \|$", table.read_text(), re.M)
    return [f"--gtest_filter={row[1]}:*/{row[1]}"] if row else []


def failures(victims, name, options=()):
    """The tests of the first victim in which some fail with the rule `name` broken; a crash or a time-out counts as one."""
    environment = dict(os.environ, MUSTER_MUTANT=name)
    for victim in victims:
        try:
            run = subprocess.run([victim, "--gtest_brief=1", *options], env=environment, text=True,
                                 capture_output=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return ["(time-out)"]
        found = re.findall(r"^\[  FAILED  \] ([^ ,]+)(?:,.*)? \(\d+ ms\)$", run.stdout, re.M)
        if run.returncode != 0 and not found:
            found = [f"(exit status {run.returncode})"]
        if found:
            return found
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("victim", nargs="+")
    parser.add_argument("--only")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/mutants.md")
    arguments = parser.parse_args()
    if arguments.only in (None, "none"):
        bad = failures(arguments.victim, "none")
        print(f"with no rule broken: {', '.join(bad) or 'all pass'}")
        if bad or arguments.only:
            return 1 if bad else 0
    if arguments.only and arguments.only not in dict(mutants()):
        parser.error(f"there is no mutant '{arguments.only}' in mutants.txt")
    survivors = 0
    for name, rule in mutants():
        if arguments.only not in (None, name):
            continue
        killers = []
        if arguments.only and known_killer(name):
            killers = failures(arguments.victim, name, known_killer(name))
        if not killers:
            killers = failures(arguments.victim, name, ["--gtest_fail_fast"] if arguments.only else [])
        survivors += not killers
        shown = re.sub(r"^(All|Seeds)/", "", killers[0]) if killers else "SURVIVES"
        more = f" and {len(killers) - 1} more" if len(killers) > 1 else ""
        if arguments.markdown:
            print(f"| {name} | {rule} | {shown}{more} |", flush=True)
        else:
            print(f"{name}: {shown}{more}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
