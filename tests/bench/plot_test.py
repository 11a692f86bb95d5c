#!/usr/bin/env python3
"""bench/plot.py: what it takes from the results that muster bench writes, and that it draws them where matplotlib is."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BENCH = pathlib.Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import plot  # noqa: E402  pylint: disable=wrong-import-position


def run(size, times, **changes):
    """A report of the contenders `times`: name to ns, or None where it was not measured."""
    results = {name: {"median_ns": ns} if ns else {"why_not": "x"} for name, ns in times.items()}
    contenders = [{"name": name, "role": "muster", **result} for name, result in results.items()]
    return {
        "topic": "put", "fabric": "host", "as": "processes", "ranks": 2, "bytes": size, "contenders": contenders,
        "warnings": [], "date": "today", "rounds": 9, "blocks_per_round": 5, "build": {"commit": "c"},
        "machine": {"cpu": "a cpu", "cores": [0, 1]}, **changes,
    }  # fmt: skip


class Plot(unittest.TestCase):
    def test_a_line_for_each_contender_over_the_sizes(self):
        title, caption, label, lines = plot.chart_of([run(64, {"a": 3, "b": None}), run(8, {"a": 2, "b": None})])
        self.assertEqual(title, "muster bench put: 2 ranks as processes, fabric host")
        self.assertEqual(label, "bytes of a message")
        self.assertNotIn("quiet", caption)
        self.assertEqual(lines, {"a": ("muster", [(8, 2), (64, 3)]), "b": ("muster", [])})

    def test_over_the_ranks_and_by_variants(self):
        runs = [run(8, {"a": n}, ranks=n, variant=way, warnings=["busy"]) for n in (4, 2) for way in ("there", "back")]
        title, caption, label, lines = plot.chart_of(runs)
        self.assertEqual((title, label), ("muster bench put: ranks as processes, fabric host", "ranks"))
        self.assertIn("NOT a quiet measurement", caption)
        self.assertEqual(lines, {f"a, {way}": ("muster", [(2, 2), (4, 4)]) for way in ("there", "back")})

    def test_what_has_no_axis_is_refused(self):
        for runs in ([run(8, {"a": 1})], [run(8, {"a": 1}), run(16, {"a": 1}, ranks=3)], []):
            with self.assertRaisesRegex(ValueError, "several sizes"):
                plot.chart_of(runs)

    def test_sizes_are_short(self):
        sizes = (8, 1024, 1536, 3 << 20, 1 << 30)
        self.assertEqual([plot.tick(size) for size in sizes], ["8", "1K", "1536", "3M", "1G"])

    def test_the_results_that_are_here(self):
        for path in [BENCH / "results/put.json", *sorted((BENCH / "results/gpu").glob("[gp]*t.json"))]:
            runs = plot.runs_of(path)
            lines = plot.chart_of(runs)[3]
            measured = sum("median_ns" in one for each in runs for one in each["contenders"])
            self.assertEqual(sum(len(points) for _, points in lines.values()), measured)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "there is no matplotlib")
    def test_it_draws(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "chart.svg"
            plot.draw(plot.chart_of([run(64, {"a": 3, "b": None}), run(8, {"a": 2, "b": None})]), path)
            self.assertEqual(xml.etree.ElementTree.parse(path).getroot().tag, "{http://www.w3.org/2000/svg}svg")


if __name__ == "__main__":
    unittest.main()
