#!/usr/bin/env bash
# tests/fuzz/changed_inputs.sh PROGRAM: runs the fuzz targets of a program, build/bin/fuzz_test, on inputs of the corpus
# that are changed at random. Each commit has a seed of its own, so that runs of many commits try many inputs, and one
# commit always the same. TENON_FUZZ_SEED=N, which the test prints, repeats them at any other commit.
set -euo pipefail

# Without git, the program's own seed.
if [ -z "${TENON_FUZZ_SEED:-}" ] && commit=$(git -C "$(dirname "$0")" rev-parse --verify HEAD 2>/dev/null); then
  export TENON_FUZZ_SEED=$((16#${commit:0:8}))
fi
echo "TENON_FUZZ_SEED=${TENON_FUZZ_SEED:-(fixed)}"
exec "$1" --gtest_filter='*FuzzCorpus.Changed*'
