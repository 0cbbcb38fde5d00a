#!/usr/bin/env bash
# trixie.sh [CTEST OPTION…]: builds Tenon from source in a new Debian 13, made by debootstrap in a folder, against that
# release's compiler and libraries (oneDNN 3), and there runs the demo and the tests that need no TensorFlow. Needs root, or sudo.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib/common.sh"
. "$TENON_ROOT/tools/lib/clean_root.sh"

clean_root trixie
as_root mkdir "$CLEAN_ROOT/src"
git -C "$TENON_ROOT" ls-files -z -co --exclude-standard | tar -C "$TENON_ROOT" --null -T - --ignore-failed-read -cf - 2>/dev/null |
  as_root tar -C "$CLEAN_ROOT/src" --no-same-owner -xf -

inside /src/tools/demo.sh
say "Building the tests"
inside cmake --build /src/build -j "$TENON_JOBS" --target unit_tests
say "Testing"
# From one version of oneDNN to the next, other kernels are right or wrong: a longer sweep than elsewhere.
inside env TENON_SWEEP_COUNT=400 ctest --test-dir /src/build -j "$TENON_JOBS" --output-on-failure --no-tests=error -LE slow "$@"
