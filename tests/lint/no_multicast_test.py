#!/usr/bin/env python3
"""no_multicast.py catches each use of multicast, and what is not switched off."""
import pathlib
import tempfile
import unittest

from no_multicast import violations


def run(path, text):
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return violations(pathlib.Path(directory))


class NoMulticast(unittest.TestCase):
    def test_uses_are_caught(self):
        for line in [
            "cuMulticastCreate(&handle, &properties);",
            "CUmulticastObjectProp properties{};",
            'asm volatile("multimem.red.add.f32 [%0], %1;");',
            "torch.ops.symm_mem.multimem_all_reduce_(tensor, 'sum', group)",
            "void* address = nvshmemx_mc_ptr(team, pointer);",
            "wanted.lsaMultimem = true;",
            "ncclGetLsaMultimemPointer(window, 0, comm);",
        ]:
            self.assertEqual(len(run("src/a.cu", line + "\n")), 1, line)

    def test_switches_are_asked_for(self):
        self.assertEqual(len(run("bench/a.cu", "#include <nccl.h>\n")), 1)
        self.assertEqual(run("bench/a.cu", '#include <nccl.h>\nsetenv("NCCL_NVLS_ENABLE", "0", 0);\n'), [])
        self.assertEqual(len(run("bench/a.cu", "#include <nvshmem.h>\n")), 1)
        self.assertEqual(len(run("bench/a.py", "import torch.distributed._symmetric_memory\n")), 1)

    def test_the_rest_is_clean(self):
        self.assertEqual(run("src/a.cu", "wanted.lsaMultimem = false;\n// Nothing uses multicast.\n"), [])
        self.assertEqual(run("build/a.cu", "cuMulticastCreate();\n"), [])


if __name__ == "__main__":
    unittest.main()
