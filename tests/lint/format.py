#!/usr/bin/env python3
"""Checks (or with --fix makes) the format of every C++ and CUDA source: clang-format 14, 100 columns.

Exit codes: 0 clean, 1 not clean (one line each), 2 usage. Says SKIPPED where clang-format 14 is missing:
another version formats differently.
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys

TOPS = ("include", "src", "examples", "bench", "tests")
SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}
COLUMNS = 100


def tool(name):
    """The path of version 14 of an LLVM tool, or None."""
    for candidate in (f"{name}-14", name):
        path = shutil.which(candidate)
        if path and " version 14." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    return None


def sources(root):
    """Every source of the project, in order."""
    return [file for top in TOPS for file in sorted((root / top).rglob("*")) if file.suffix in SUFFIXES]


COMMENT = re.compile(r"(\s*//\s*)(\S.*)")
RULER = re.compile(r"\s*// -{4} .*[^-] -+")
NEW_PARAGRAPH = re.compile(r"[-*|#]|\d+[.)]|.*\s{3}")


def wrap_comments(lines):
    """Breaks // comments that are too long; what is cut off flows into the next line of its paragraph. A ruler ends at
    the last column.

    clang-format would reflow everything, which destroys tables and lists in comments.
    """
    lines = list(lines)
    for index, line in enumerate(lines):
        match = COMMENT.fullmatch(line)
        if RULER.fullmatch(line):
            yield line[:COLUMNS]
            continue
        if len(line) > COLUMNS and match:
            prefix, text = match.groups()
            cut = text.rfind(" ", 0, COLUMNS - len(prefix) + 1)
            if cut > 0:
                line, rest = prefix + text[:cut].rstrip(), text[cut + 1 :]
                following = COMMENT.fullmatch(lines[index + 1]) if index + 1 < len(lines) else None
                if following and following[1] == prefix and not NEW_PARAGRAPH.match(following[2]):
                    lines[index + 1] = f"{prefix}{rest} {following[2]}"
                else:
                    lines.insert(index + 1, prefix + rest)
        yield line


def fix_long_comments(files):
    """Wraps the comments that are too long, in place."""
    for file in files:
        text = file.read_text(encoding="utf-8")
        fixed = "".join(line + "\n" for line in wrap_comments(text.splitlines()))
        if fixed != text:
            file.write_text(fixed, encoding="utf-8")


def long_lines(root, files):
    """Lines beyond the limit, but for those that hold an address."""
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > COLUMNS and "http" not in line:
                yield f"{file.relative_to(root)}:{number}: {len(line)} columns, at most {COLUMNS}"


def misformatted(root, output):
    """One line for each file that clang-format would change."""
    hits = re.findall(r"^(.*?):(\d+):\d+: error: code should be clang-formatted", output, re.MULTILINE)
    lines = collections.defaultdict(list)
    for file, number in hits:
        lines[file].append(number)
    for file, numbers in lines.items():
        yield f"{pathlib.Path(file).relative_to(root)}:{numbers[0]}: not as clang-format 14 has it ({len(numbers)} places)"


def main():
    parser = argparse.ArgumentParser(description="Checks the format of the C++ sources.")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parents[2], type=pathlib.Path)
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    files = sources(root)
    clang_format = tool("clang-format")
    if not clang_format:
        print("SKIPPED: there is no clang-format 14")
        return 0
    if arguments.fix:
        fix_long_comments(files)
    mode = ["-i"] if arguments.fix else ["--dry-run", "-Werror"]
    result = subprocess.run([clang_format, *mode, *files], cwd=root, capture_output=True, text=True, check=False)
    found = [*misformatted(root, result.stderr), *long_lines(root, files)]
    if found:
        print("\n".join(found), "./dev format repairs all but long lines of code", sep="\n")
        return 1
    if result.returncode != 0:
        print(result.stderr)
        return 1
    print(f"format: {len(files)} files, clean")
    return 0


if __name__ == "__main__":
    sys.exit(main())
