#!/usr/bin/env python3
"""The pages of `muster check --html`: whole, by themselves, and with each event in its place once.

Usage: page_structure_test.py MUSTER
"""
import json
import os
import re
import sys
import tempfile

from page import Page, scene_of, write_page

# One of each kind of report, and of what the diagram draws; in builds without tests there are none.
BROKEN = {
    "set_epilogue": "clobber",
    "put_to_third_rank": "race",
    "notify_without_converge": "race",
    "get_read_before_flush": "race",
    "push_all_gather_twice": "race",
    "eq_on_growing_cell": "deadlock",
    "handshake_tag_zero": "deadlock",
    "barrier_waits_for_some": "stale pass",
    "credits_left_over": "credits",
    "early_return_past_converge": "divergence",
    "different_calls": "divergence",
    "put_onto_itself": "contract",
    "expired_taken_for_success": "race",
}
GOOD = [
    ["epoch_barrier", "-n", "4"],
    ["counter_barrier", "-n", "3"],
    ["all_gather", "--lanes", "2", "--threads-per-lane", "2"],
    ["packet_exchange"],
    ["epoch_barrier", "credit_barrier"],
]
faults = []


def expect(condition, what):
    if not condition:
        faults.append(what)


def check_whole(page, text, name):
    for fault in page.faults:
        faults.append(f"{name}: {fault}")
    expect(len(set(page.ids)) == len(page.ids), f"{name}: an id comes twice")
    for reference in set(page.references) - set(page.ids):
        faults.append(f"{name}: nothing is called {reference}")
    frame = re.sub(r"<span class=\"t\">.*?</span>", "", text)  # but for what sources say
    outside = re.search(r"https?:|@import|url\(|<link|<iframe|<img", frame)
    expect(outside is None, f"{name}: refers to {outside and frame[outside.start():outside.start() + 40]}")
    expect(not any("src" in values for _, values in page.tags), f"{name}: has a src")
    expect("{{" not in frame, f"{name}: a place of the frame is left")


def check_rows(page, name):
    expect(page.rows, f"{name}: has no diagram")
    scenes = {}
    for row in page.rows:
        scenes.setdefault(scene_of(row), []).append(row)
    for scene, rows in scenes.items():
        places = {row["id"]: at for at, row in enumerate(rows)}
        events = [event for row in rows for event in row["data-events"].split()]
        expect(len(set(events)) == len(events), f"{name}, {scene}: an event is there twice")
        for row in rows:
            here = places[row["id"]]
            for source in row.get("data-reads", "").split():
                expect(places.get(source, here) < here, f"{name}: {row['id']} reads from {source}")
            for source in row.get("data-lacks", "").split():
                expect(source in places, f"{name}: {row['id']} lacks {source}, which is not there")
            lands = row.get("data-lands", "never")
            expect(lands == "never" or places.get(lands, here) > here, f"{name}: {row['id']} lands in {lands}")
    return scenes


def check_refuted(muster, folder, name, kind):
    """The page, and that it shows what the replay of the same execution tells as JSON."""
    path, told = os.path.join(folder, "page.html"), os.path.join(folder, "page.json")
    check = f"broken/{name}"
    text = write_page(muster, [check, "--json", told], path, (1,))
    page = Page(text)
    check_whole(page, text, check)
    scenes = check_rows(page, check)
    failing = [rows for rows in scenes.values() if any("fails" in row["class"] for row in rows)]
    expect(failing, f"{check}: no row says what fails")
    expect(f"refuted: {kind}" in page.text(), f"{check}: is not refuted as {kind}")
    if kind in ("race", "deadlock", "clobber", "stale pass"):
        expect('class="missing"' in text, f"{check}: draws no missing edge")
        expect("missing: " in page.text(), f"{check}: has no words for the missing edge")
    with open(told, encoding="utf-8") as file:
        reports = [json.loads(line) for line in file]
    refuted = [report for report in reports if report["verdict"] == "refuted"]
    mends = sum(len(report.get("repairs", [])) for report in refuted)
    shown = sum(values.get("data-shows", "").rpartition("-")[2].startswith("m") for _, values in page.tags)
    expect((mends == 0) == (shown == 0), f"{check}: {mends} mends, {shown} shown")

    replay = re.search(r"--replay (\S+?)[<\s]", text).group(1)
    text = write_page(muster, [check, "--replay", replay, "--json", told], path, (1,))
    page = Page(text)
    check_whole(page, text, check)
    with open(told, encoding="utf-8") as file:
        events = json.loads(file.readline())["events"]
    rows = {event: row for row in page.rows for event in row["data-events"].split()}
    for event in events:
        expect(str(event["number"]) in rows, f"{check}: event {event['number']} is not on the page")
        row = rows.get(str(event["number"]), {})
        for deposit in event["reads"]:
            source = rows.get(str(deposit))
            expect(source and source["id"] in row.get("data-reads", "").split(),
                   f"{check}: no arrow from event {deposit} to {event['number']}")


def main():
    muster = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        for arguments in GOOD:
            text = write_page(muster, arguments, path, (0,))
            page = Page(text)
            check_whole(page, text, arguments[0])
            check_rows(page, arguments[0])
            expect("What was explored" in page.text(), f"{arguments[0]}: does not say what was explored")
            expect(any("data-reads" in row for row in page.rows), f"{arguments[0]}: has no arrow")
        for name, kind in BROKEN.items():
            check_refuted(muster, folder, name, kind)
    for fault in faults[:40]:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
