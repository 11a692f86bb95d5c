#!/usr/bin/env python3
"""What a host would read or write elsewhere than the model must not compile on the model.

Usage: view_compile_test.py COMPILER INCLUDE_DIRECTORY
Each snippet is compiled alone; those of GOOD must compile, or the others would prove nothing.
Exit codes: 0 as expected, 1 not (one line each), 2 usage.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

HEADERS = """
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>
#include "muster/fabric/model.hpp"
"""

PROLOGUE = """
int used(int value);
int by_reference(const int& value);
void wait();
void body(muster::model::Fabric& fabric, muster::WindowRef<int> window) {
  auto view = fabric.local(window);
  auto peer = fabric.address(window, muster::Rank{1});
"""

GOOD = [
    "int v = view[0]; wait(); used(v);",
    "const long v = view[0]; used(static_cast<int>(v));",
    "used(view[0]); used(peer[1]);",
    "view[0] = 1; view[1] = view[0]; peer[0] += 2; ++peer[0];",
    "if (view[0] == 7 && view[1]) wait();",
    "std::vector<int> all; all.emplace_back(view[0]); std::vector<int> two{view[0], view[1]};",
    "int v = view[0] > 3 ? view[0] : 4; used(v);",
    "auto v = static_cast<int>(view[0]); used(v);",
]

BAD = [
    # A copy on a host, no copy here.
    "auto v = view[0]; wait(); used(v);",
    "auto v = view[0]; wait(); int w = v + 1; used(w);",
    "auto v = peer[0]; v = 1;",
    "auto v = view[0]; ++v;",
    "auto v = view[0]; view[1] = v;",
    "auto later = [v = view[0]] { return used(v); }; wait(); later();",
    "auto both = std::make_pair(view[0], view[1]);",
    "auto both = std::tuple(view[0], view[1]);",
    "std::vector all{view[0], view[1]};",
    "[](auto v) { wait(); used(v); }(view[0]);",
    "int old = fabric.broadcast(view[0]);",
    # The element itself on a host, a copy here.
    "const int& v = view[0]; wait(); used(v);",
    "auto& v = view[0]; wait(); used(v);",
    "const auto& v = view[0]; wait(); used(v);",
    "auto&& v = view[0]; wait(); used(v);",
    "int& v = view[0]; wait(); used(v);",
    "auto later = [&v = view[0]] { return used(v); }; wait(); later();",
    "by_reference(view[0]);",
    "int m = std::max(view[0], view[1]); used(m);",
    "auto r = std::ref(view[0]);",
    "std::swap(view[0], view[1]);",
    "auto v = view[0] = view[1] = 3;",
    "used(view[0] = 3);",
    # Pointers, iterators and what takes them.
    "int* p = &view[0]; wait(); used(*p);",
    "int* p = std::addressof(view[0]);",
    "int* p = view.data();",
    "int* p = view;",
    "used(*view);",
    "for (int v : view) used(v);",
    "used(std::accumulate(view.begin(), view.end(), 0));",
    "std::sort(std::begin(view), std::end(view));",
    "fabric.counter(view);",
]


def run(command, source):
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def compile_all(compiler, include, snippets):
    """(compiles, what the compiler said) of each snippet; the headers are compiled once."""
    with tempfile.TemporaryDirectory() as directory:
        header = pathlib.Path(directory) / "headers.hpp"
        header.write_text(HEADERS, encoding="utf-8")
        flags = [compiler, "-std=c++20", f"-I{include}"]
        made, said = run([*flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"], "")
        if not made:
            return [(None, said)] * len(snippets)
        flags += ["-include", str(header), "-fsyntax-only", "-x", "c++", "-"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda s: run(flags, f"{PROLOGUE}  {s}\n}}\n"), snippets))


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    compiler, include = sys.argv[1:]
    wrong = []
    results = compile_all(compiler, include, GOOD + BAD)
    for snippet, (fine, said) in zip(GOOD + BAD, results):
        if fine != (snippet in GOOD):
            wrong.append(f"{'must compile' if snippet in GOOD else 'must not compile'}: {snippet}\n{said}")
    print("\n".join(wrong) if wrong else f"views: {len(GOOD)} compile, {len(BAD)} do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
