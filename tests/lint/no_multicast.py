#!/usr/bin/env python3
"""Checks that nothing here uses NVLink's multicast, and that programs over other libraries switch it off.

muster's paths need none, and what it is measured against goes without, too.

Exit codes: 0 clean, 1 violations (one line each).
"""
import pathlib
import re
import sys

SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".c", ".py", ".txt", ".cmake", ".sh"}
SKIPPED = {".git", "build", "lint"}  # `lint` holds the words themselves

USES = [
    (re.compile(r"\b(cu|CU_|cuda)_?Multicast\w*|\bCU_MULTICAST\w*", re.IGNORECASE), "a call of CUDA's multicast"),
    (re.compile(r"\bmultimem\.\w+"), "an instruction on multicast memory"),
    (re.compile(r"\bmultimem_\w+"), "an operation of PyTorch's on multicast memory"),
    (re.compile(r"\bnvshmemx?_mc_ptr\b"), "a multicast address of NVSHMEM's"),
    (re.compile(r"\blsaMultimem\s*=\s*(true|1)\b"), "a multicast barrier of NCCL's"),
    (re.compile(r"\bncclGet(Lsa)?Multimem\w*"), "a multicast address of NCCL's"),
]

# What a file that uses the library must set before it does so.
SWITCHES = [
    (re.compile(r"#\s*include\s*<nccl\.h>"), re.compile(r'"NCCL_NVLS_ENABLE",\s*"0"')),
    (re.compile(r"#\s*include\s*<nvshmemx?\.h>"), re.compile(r'"NVSHMEM_DISABLE_NVLS",\s*"1"')),
    (re.compile(r"\b_symmetric_memory\b"), re.compile(r'"TORCH_SYMM_MEM_DISABLE_MULTICAST",\s*"1"')),
]


def violations(root):
    """One line for each."""
    found = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        if file.suffix not in SUFFIXES or SKIPPED & set(path.parts) or not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{path}:{number}: {what}" for pattern, what in USES if pattern.search(line)]
        for library, switch in SWITCHES:
            if library.search(text) and not switch.search(text):
                found.append(f"{path}: it does not set {switch.pattern.split(chr(34))[1]}")
    return found


def main():
    found = violations(pathlib.Path(__file__).resolve().parents[2])
    print("\n".join(found) if found else "no multicast: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
