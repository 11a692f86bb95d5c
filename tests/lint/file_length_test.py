#!/usr/bin/env python3
"""file_length.py sees a file that is too long, and an exception that is none any more."""
import unittest

from file_length import MOST, violations


class FileLength(unittest.TestCase):
    def test_files_up_to_the_limit_pass(self):
        self.assertEqual(list(violations({"a.cpp": MOST, "b.hpp": 1}, set())), [])

    def test_a_longer_one_is_seen(self):
        found = list(violations({"a.cpp": MOST + 1}, set()))
        self.assertEqual(len(found), 1)
        self.assertIn("a.cpp: 401 lines, at most 400", found[0])

    def test_one_that_is_listed_passes_while_it_is_long(self):
        self.assertEqual(list(violations({"a.cpp": MOST + 1}, {"a.cpp"})), [])

    def test_it_leaves_the_list_when_it_is_short_or_gone(self):
        for lengths in ({"a.cpp": MOST}, {}):
            with self.subTest(lengths=lengths):
                found = list(violations(lengths, {"a.cpp"}))
                self.assertEqual(len(found), 1)
                self.assertIn("take it off the list", found[0])


if __name__ == "__main__":
    unittest.main()
