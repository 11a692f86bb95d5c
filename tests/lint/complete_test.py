#!/usr/bin/env python3
"""complete.py sees each place that something is missing from."""
import pathlib
import tempfile
import unittest

from complete import incomplete

WHOLE = {
    "include/muster/barrier/ring.hpp": "class RingBarrier {\n};\nclass BarrierScope {\n};\nclass LaterBarrier;\n",
    "include/muster/barrier.hpp": '#include "muster/barrier/ring.hpp"\n',
    "include/muster/README.md": "| `RingBarrier` |\n",
    "include/muster/check/report.hpp": "enum class Kind : int {\n  stale_pass,  // a\n  noncoherent,\n};\n",
    "src/check/builtin/ring.cpp": "muster::RingBarrier barrier;\n",
    "src/check/names.cpp": "{Kind::stale_pass,\n",
    "tests/unit/cost_card_test.cpp": "for_all_sizes<RingBarrier>\n",
    "tests/conformance/barrier_bodies.hpp": "RingBarrier\n",
    "tests/conformance/host_barrier_test.cpp": '#include "conformance/barrier_bodies.hpp"\n',
    "tests/gpu/host_test.cpp": '#include "conformance/barrier_bodies.hpp"\n',
    "tests/gpu/kernels.cu": "RingBarrier\n",
    "tests/broken/left_early.cpp": "MUSTER_BROKEN(left_early, stale_pass, .ranks = 2)\n",
    "docs/checking.md": "| stale pass | it |\n",
}


def gaps(changes):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for path, text in {**WHOLE, **changes}.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return list(incomplete(root))


class Complete(unittest.TestCase):
    def test_a_whole_tree_passes(self):
        self.assertEqual(gaps({}), [])

    def test_each_gap_is_seen(self):
        for path, words in [
            ("include/muster/barrier.hpp", "ring.hpp is missing from the header of all barriers"),
            ("include/muster/README.md", "RingBarrier is missing from the reading order"),
            ("src/check/builtin/ring.cpp", "from the builtin checks"),
            ("src/check/names.cpp", "stale_pass is missing from the names of kinds"),
            ("tests/unit/cost_card_test.cpp", "from the cost cards"),
            ("tests/conformance/barrier_bodies.hpp", "from the conformance bodies"),
            ("tests/conformance/host_barrier_test.cpp", "barrier_bodies.hpp is missing from the tests of the host"),
            ("tests/gpu/host_test.cpp", "from the tests of the GPU's code"),
            ("tests/gpu/kernels.cu", "from the kernels that must compile"),
            ("tests/broken/left_early.cpp", "from the tests that expect one"),
            ("docs/checking.md", "from the table of kinds"),
        ]:
            with self.subTest(path=path):
                found = gaps({path: "// a RingBarriers, a stale, a pass\n"})
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])

    def test_a_barrier_is_one_on_whatever_base(self):
        for base in [" : public Counting<GridBarrier, Epoch>", "\n    : public Counting<GridBarrier, Epoch>", " final"]:
            with self.subTest(base=base):
                found = gaps({"include/muster/barrier/ring.hpp": f"class GridBarrier{base} {{\n}};\n"})
                self.assertEqual(len(found), 5, found)

    def test_a_kind_that_is_there_now_is_looked_for(self):
        found = gaps({"include/muster/check/report.hpp": "enum class Kind {\n  stale_pass,\n  race,\n};\n"})
        self.assertEqual(len(found), 3, found)


if __name__ == "__main__":
    unittest.main()
