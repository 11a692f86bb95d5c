#!/usr/bin/env python3
"""format.py finds what is misformatted, repairs it, and leaves tables in comments alone."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import format as lint

STYLE = (pathlib.Path(__file__).parents[2] / ".clang-format").read_text(encoding="utf-8")
WORDS = "word " * 30


def run(source, *options):
    """Exit code, output and the source afterwards."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / ".clang-format").write_text(STYLE, encoding="utf-8")
        file = root / "src" / "file.cpp"
        file.parent.mkdir()
        file.write_text(source, encoding="utf-8")
        output = io.StringIO()
        with mock.patch.object(sys, "argv", ["format.py", directory, *options]):
            with contextlib.redirect_stdout(output):
                code = lint.main()
        return code, output.getvalue(), file.read_text(encoding="utf-8")


@unittest.skipUnless(lint.tool("clang-format"), "there is no clang-format 14")
class Format(unittest.TestCase):
    def test_clean(self):
        code, output, _ = run("int one() {\n  return 1;\n}\n")
        self.assertEqual((code, output), (0, "format: 1 files, clean\n"))

    def test_misformatted_code_is_named_and_repaired(self):
        code, output, _ = run("int  one(){return 1;}\n")
        self.assertEqual(code, 1)
        self.assertIn("src/file.cpp:1: not as clang-format 14 has it", output)
        code, _, fixed = run("int  one(){return 1;}\n", "--fix")
        self.assertEqual((code, fixed), (0, "int one() {\n  return 1;\n}\n"))

    def test_a_long_comment_flows_into_its_paragraph(self):
        source = f"// {WORDS}end\n// of it\n//\n// next\n"
        self.assertIn("156 columns", run(source)[1])
        code, _, fixed = run(source, "--fix")
        self.assertEqual(code, 0)
        self.assertTrue(all(len(line) <= lint.COLUMNS for line in fixed.splitlines()))
        self.assertTrue(fixed.endswith("end of it\n//\n// next\n"), fixed)

    def test_a_ruler_ends_at_the_last_column(self):
        fixed = run(f"// ---- a part {'-' * 90}\nint one;\n", "--fix")[2]
        self.assertEqual([len(line) for line in fixed.splitlines()], [lint.COLUMNS, 8], fixed)

    def test_tables_and_lists_stay(self):
        source = f"// {WORDS}\n//   name     meaning\n// - one\n// - two\n"
        fixed = run(source, "--fix")[2]
        self.assertTrue(fixed.endswith("\n//   name     meaning\n// - one\n// - two\n"), fixed)

    def test_long_code_is_an_error_that_fix_does_not_hide(self):
        name = "a" * 101
        self.assertEqual(run(f"int {name};\n", "--fix")[0], 1)


if __name__ == "__main__":
    unittest.main()
