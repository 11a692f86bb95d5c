#!/usr/bin/env python3
"""Each rule of include_directions.py catches a file that breaks it, and nothing else."""
import pathlib
import tempfile
import unittest

from include_directions import ALLOWED, LAYERS, layer_of, violations

CLEAN = {
    "include/muster/types.hpp": "#include <cstdint>\n",
    "include/muster/result.hpp": '#include "muster/types.hpp"\n',
    "include/muster/fabric.hpp": '#include "muster/types.hpp"\n',
    "include/muster/barrier/epoch.hpp": '#include "muster/fabric.hpp"\n',
    "include/muster/fabric/host.hpp": '#include "muster/fabric.hpp"\n#include "muster/result.hpp"\n',
    "include/muster/fabric/model.hpp": '#include "muster/check/engine.hpp"\n',
    "include/muster/check/engine.hpp": '#include "muster/types.hpp"\n',
    "include/muster/team.hpp": '#include "muster/fabric/host.hpp"\n',
    "src/fabric/host/host.cpp": '#include "fabric/host/job.hpp"\n#include "job.hpp"\n',
    "src/fabric/host/job.hpp": '#include "muster/fabric/host.hpp"\n#include <fmt/format.h>\n',
    "src/cli/main.cpp": '#include "muster/team.hpp"\n#include "fabric/host/job.hpp"\n',
    "examples/01_hello.cpp": '#include "muster/team.hpp"\n',
}


def run(changes):
    """The violations of the clean tree with some files replaced."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for path, text in {**CLEAN, **changes}.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return violations(root)


class IncludeDirections(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        self.assertEqual(run({}), [])

    def test_each_violation_is_caught(self):
        cases = [
            ("include/muster/types.hpp", '#include "muster/result.hpp"', "layer types includes"),
            ("include/muster/fabric.hpp", '#include "muster/barrier/epoch.hpp"', "layer fabric includes"),
            ("include/muster/barrier/epoch.hpp", '#include "muster/fabric/host.hpp"', "of layer fabric-host"),
            ("include/muster/barrier/epoch.hpp", '#include "muster/team.hpp"', "of layer team"),
            ("include/muster/collective/ring.hpp", '#include "muster/fabric/model.hpp"', "of layer fabric-model"),
            ("include/muster/fabric/host.hpp", '#include "muster/barrier/epoch.hpp"', "of layer barrier"),
            ("include/muster/fabric/host.hpp", '#include "muster/check/engine.hpp"', "of layer check"),
            ("include/muster/fabric/gpu.cuh", '#include "muster/fabric/host.hpp"', "of layer fabric-host"),
            ("include/muster/fabric/model.hpp", '#include "muster/team.hpp"', "of layer team"),
            ("src/fabric/host/host.cpp", '  #  include "muster/team.hpp"', "layer source-host includes"),
            ("src/team/team.cpp", '#include "cli/verb.hpp"', "is not found"),
            ("src/cli/verb.hpp", '#include <muster/team.hpp>', "with quotes"),
            ("include/muster/team.hpp", '#include "fabric/host/job.hpp"', "not installed"),
            ("include/muster/team.hpp", "#include <fmt/format.h>", "may not have"),
            ("include/muster/barrier/epoch.hpp", '#include "../fabric.hpp"', "named from the root"),
            ("include/muster/oddity.hpp", "", "belongs to no layer"),
            ("examples/01_hello.cpp", '#include "fabric/host/job.hpp"', "an example includes"),
        ]
        for path, line, message in cases:
            with self.subTest(path=path, line=line):
                found = run({path: line + "\n"})
                self.assertEqual(len(found), 1, found)
                self.assertIn(path, found[0])
                self.assertIn(message, found[0])

    def test_layers_allow_no_cycle_but_that_of_model_and_check(self):
        def reaches(start, goal, seen):
            for layer in ALLOWED[start]:
                if layer == goal:
                    return True
                if layer not in seen and reaches(layer, goal, seen | {layer}):
                    return True
            return False

        cyclic = [layer for layer in ALLOWED if reaches(layer, layer, set())]
        self.assertEqual(sorted(cyclic), ["check", "fabric-model"])

    def test_every_layer_has_a_rule(self):
        for path in ("src/fabric/ucx/x.cpp", "include/muster/fabric/gpu.cuh", *CLEAN):
            self.assertIn(layer_of(path), ALLOWED)
        for _, layer in LAYERS:
            self.assertTrue("\\" in layer or layer in ALLOWED, layer)


if __name__ == "__main__":
    unittest.main()
