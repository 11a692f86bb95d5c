#!/bin/sh
# Under C++17 every public header says that it wants C++20, and how to get it, and little else.
#
#   needs_cxx20.sh INCLUDE_DIRECTORY OTHER_INCLUDE_DIRECTORY|- COMPILER FLAGS...
#       with a C++ compiler: every .hpp; with nvcc: what kernels begin with
set -u
include=$1 others=$2
shift 2
case $others in -) flags= ;; *) flags="-I$others" ;; esac
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
case $(basename "$1") in
  nvcc*) headers="muster/fabric/gpu.cuh muster/fabric/gpu/world.hpp" extension=cu ;;
  *) headers=$(cd "$include" && find muster -name '*.hpp' | sort) extension=cpp ;;
esac
failed=0
for header in $headers; do
  echo "#include \"$header\"" > "$place/one.$extension"
  if "$@" -std=c++17 -I"$include" $flags "$place/one.$extension" > "$place/out" 2>&1; then
    echo "$header: C++17 compiles it"
    failed=1
    continue
  fi
  errors=$(grep -c 'error' "$place/out")
  first=$(grep -m 1 'error' "$place/out")
  case $first in
    *"muster needs C++20: compile with -std=c++20"*) ;;
    *) echo "$header: the first error is not ours: $first"; failed=1 ;;
  esac
  if [ "$errors" -gt 5 ]; then
    echo "$header: $errors lines of errors"
    failed=1
  fi
done
exit $failed
