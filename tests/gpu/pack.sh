#!/bin/sh
# Gathers what a machine with GPUs needs to run the GPU tests and `muster bench --fabric gpu`, without
# this tree.
#
#   pack.sh BUILD_DIRECTORY TARGET_DIRECTORY
#
# Then, on that machine: TARGET_DIRECTORY/run_all.sh [OUTPUT_DIRECTORY]
set -eu
[ $# -eq 2 ] || { sed -n '2,7p' "$0"; exit 2; }
build=$1 target=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$target/lib"
for program in "$build"/tests/gpu/gpu_* "$build"/bin/muster "$build"/bin/ring "$build"/bin/muster-bench-gpu \
  "$build"/bin/muster-peer-nccl "$build"/bin/muster-peer-nvshmem; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  strip -o "$target/$(basename "$program")" "$program"
done
pytorch=$build/examples/pytorch
if [ -f "$pytorch/libmuster_pytorch.so" ]; then
  mkdir -p "$target/pytorch"
  strip -o "$target/pytorch/libmuster_pytorch.so" "$pytorch/libmuster_pytorch.so"
  cp "$pytorch/flip_barrier.py" "$target/pytorch/"
fi
[ ! -f "$build/bin/muster-peer-pytorch" ] || cp "$build/bin/muster-peer-pytorch" "$target/"
# Libraries that a machine may lack; those of the C and C++ compilers and of CUDA it has, and those of
# a peer it has where it has the peer.
for program in "$target"/*; do
  ldd "$program" 2>/dev/null | awk '/libfmt|libboost/ { print $3 }'
done | sort -u | while read -r library; do
  cp -L "$library" "$target/lib/"
done
cp "$here/run_all.sh" "$target/"
du -sh "$target" | awk '{ print "packed " $1 " in " $2 }'
