#!/usr/bin/env python3
"""named_files.py sees a name that leads nowhere, and lets the others be."""
import unittest

from named_files import violations

TREE = {
    "include/muster/barrier/epoch.hpp": "// Like grid.hpp, and barrier/grid.hpp; the rest is in ../fabric.hpp.\n",
    "include/muster/barrier/grid.hpp": '#include "nowhere.hpp"\n',
    "include/muster/fabric.hpp": 'const char* text = "lost.hpp";\n',
    "docs/page.md": "[the header](../include/muster/fabric.hpp)\n",
    "cmake/Helpers.cmake": "# Include Helpers.cmake first.\n",
}


def run(changes):
    tree = {**TREE, **changes}
    return list(violations(sorted(tree), tree.__getitem__))


class NamedFiles(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        self.assertEqual(run({}), [])

    def test_a_name_that_leads_nowhere_is_seen(self):
        for path, line, name in [
            ("src/a.cpp", "int x;  // see gone.hpp.", "gone.hpp"),
            ("src/a.cu", "// (tests/barrier/grid.hpp)", "tests/barrier/grid.hpp"),
            ("src/a.cuh", "// muster/epoch.hpp", "muster/epoch.hpp"),
            ("docs/other.md", "as [it](gone.md) says", "gone.md"),
            ("docs/other.md", "`tests/gone.py`", "tests/gone.py"),
            ("a.py", "x = 1  \x23 gone.sh", "gone.sh"),
            ("dev", "# what gone.cmake does", "gone.cmake"),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(run({path: "\n" + line + "\n"}), [f"{path}:2: there is no {name}"])

    def test_what_is_no_name_of_a_file_here_passes(self):
        for path, line in [
            ("src/a.cpp", 'open("gone.hpp");'),
            ("src/a.cpp", "// NAME.cpp, x.cpp, test_*.cpp, $dir/gone.cpp, <gone.hpp>"),
            ("src/a.cpp", "// https://example.org/gone.cpp"),
            ("cmake/other.cmake", "#   add(gone.cpp)"),
            ("docs/other.md", "    c++ gone.cpp"),
            ("docs/other.md", "```\ngone.cpp\n```"),
            ("data.json", "// gone.cpp"),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(run({path: line + "\n"}), [])


if __name__ == "__main__":
    unittest.main()
