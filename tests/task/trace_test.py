#!/usr/bin/env python3
"""Runs `20_deferred --trace FILE` and looks at the trace: rows, tasks, pending waits, arrows between ranks.

Usage: trace_test.py PROGRAM FILE. Exit codes: 0 as promised, 1 not (one line each).
"""
import json
import pathlib
import subprocess
import sys


def wrong(events):
    """One line for each promise that the trace does not keep."""
    def of(phase, **fields):
        return [e for e in events if e["ph"] == phase and all(e.get(key) == value for key, value in fields.items())]

    for rank in (0, 1):
        if not of("M", name="process_name", pid=rank):
            yield f"rank {rank} has no name"
        for lane in (0, 1):
            if not of("M", name="thread_name", pid=rank, tid=lane):
                yield f"lane {lane} of rank {rank} has no row"
        for name, count in (("publish", 3), ("wait", 6), ("consume", 6)):
            if len(of("X", cat="task", name=name, pid=rank)) != count:
                yield f"rank {rank} has {len(of('X', cat='task', name=name, pid=rank))} tasks {name}, not {count}"
    begun, ended = of("b", cat="pending"), of("e", cat="pending")
    if not begun or sorted(e["id"] for e in begun) != sorted(e["id"] for e in ended):
        yield "there is no pending wait, or one does not end"
    starts = {e["id"]: e for e in of("s", cat="release")}
    ends = {e["id"]: e for e in of("f", cat="release")}
    if not starts or starts.keys() != ends.keys():
        yield "there is no arrow, or one has no end"
    for key in starts.keys() & ends.keys():
        start, end = starts[key], ends[key]
        if start["pid"] == end["pid"]:
            yield f"arrow {key} does not lead to the other rank"
        if start["ts"] > end["ts"]:
            yield f"arrow {key} leads back in time"
        if not any(e["tid"] == end["tid"] and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]
                   for e in of("X", cat="task", name="consume", pid=end["pid"])):
            yield f"arrow {key} does not end in a consumer"
        if not any(e["tid"] == start["tid"] and e["ts"] <= start["ts"] <= e["ts"] + e["dur"]
                   for e in of("X", cat="task", name="publish", pid=start["pid"])):
            yield f"arrow {key} does not begin in a publisher"


def main():
    program, file = sys.argv[1], pathlib.Path(sys.argv[2])
    file.write_text("what was there before is overwritten\n", encoding="utf-8")
    subprocess.run([program, "--trace", file], check=True)
    found = sorted(set(wrong(json.loads(file.read_text(encoding="utf-8")))))
    print("\n".join(found) if found else "the trace shows tasks, waits, and what released them")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
