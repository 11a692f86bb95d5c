#!/bin/sh
# Gathers what a machine with GPUs needs to run the GPU tests and benchmarks, without this tree.
#
#   pack.sh BUILD_DIRECTORY TARGET_DIRECTORY
#
# Then, on that machine: TARGET_DIRECTORY/run_all.sh [OUTPUT_DIRECTORY]
set -eu
[ $# -eq 2 ] || { sed -n '2,6p' "$0"; exit 2; }
build=$1 target=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$target/lib"
for program in "$build"/tests/gpu/gpu_* "$build"/bench/gpu/bench_gpu_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  strip -o "$target/$(basename "$program")" "$program"
done
pytorch=$build/examples/pytorch
if [ -f "$pytorch/libmuster_pytorch.so" ]; then
  mkdir -p "$target/pytorch"
  strip -o "$target/pytorch/libmuster_pytorch.so" "$pytorch/libmuster_pytorch.so"
  cp "$pytorch/flip_barrier.py" "$target/pytorch/"
fi
if [ -x "$build/bin/muster" ]; then strip -o "$target/muster" "$build/bin/muster"; fi
# Libraries that a machine may lack; those of the C and C++ compilers and of CUDA it has.
ldd "$target"/gpu_* "$target"/muster 2>/dev/null | awk '/libfmt|libboost/ { print $3 }' | sort -u | while read -r library; do
  cp -L "$library" "$target/lib/"
done
cp "$here/run_all.sh" "$target/"
du -sh "$target" | awk '{ print "packed " $1 " in " $2 }'
