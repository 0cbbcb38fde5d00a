#!/usr/bin/env bash
# tools/sanitize.sh KIND [TEST…]: builds test programs with a sanitizer in a separate folder and
# runs them; default: all of them. KIND: address,undefined or thread, or assertions, which are libstdc++'s own.
# tools/sanitize.sh tenth [SEED]: a random tenth of all suites under all kinds (tools/sanitizers/tenth.py), of one
# kind; with ThreadSanitizer always the race tests, too. The default seed is the commit.
# Prints a table of the suites and writes it to build-KIND/suites.md.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

RACE_TESTS=(runtime_test primitive_cache_test)
kind=$1
shift
seed=
if [ "$kind" = tenth ]; then
  seed=${1:-$(git -C "$TENON_ROOT" rev-parse --short HEAD 2>/dev/null || echo 1)}
  kind=$("$TENON_ROOT/tools/sanitizers/tenth.py" "$seed" kind)
  shift $#
fi
dir=$TENON_ROOT/build-${kind%%,*}
# Optimizing sanitized code takes several times longer than it saves in the tests.
flags="-O0 -g1 -DNDEBUG" options=(-DTENON_SANITIZE="$kind")
if [ "$kind" = assertions ]; then
  flags="-O1 -D_GLIBCXX_ASSERTIONS -DNDEBUG" options=()
fi
# The race tests are about the runtime; op families that need nothing special from it would only cost build
# time. No other family may need their kernels (tools/presubmit.py).
if [ "$kind" = thread ] && [ $# -gt 0 ]; then
  options+=("-DTENON_WITHOUT_OPS=image;linalg;ragged;sparse")
else
  options+=(-DTENON_WITHOUT_OPS=)
fi
configure "$dir" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$flags" -DTENON_BUILD_BENCH=OFF "${options[@]}"
tests=("$@")
if [ -n "$seed" ]; then
  mapfile -t all < <(ctest --test-dir "$dir" -N -LE slow | sed -n 's/^ *Test *#[0-9]*: //p')
  mapfile -t tests < <("$TENON_ROOT/tools/sanitizers/tenth.py" "$seed" tests "${all[@]}")
  if [ "$kind" = thread ]; then tests+=("${RACE_TESTS[@]}"); fi
  say "tools/sanitize.sh tenth $seed: $kind, ${tests[*]}"
fi
# Of a test's name, what the program is called. Tests of other names run a program of those below.
targets=()
for test in "${tests[@]}"; do
  case $test in
    numerics_*) targets+=(numerics_test) ;;
    models_*) targets+=(models_test) ;;
    device_test*) targets+=(device_test) ;;
    *) targets+=("$test") ;;
  esac
done
cmake --build "$dir" -j "$TENON_JOBS" --target "${targets[@]:-unit_tests}"
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=4096
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$TENON_ROOT/tools/sanitizers/lsan.supp
# Under ThreadSanitizer, each kernel runs on one thread unless a test asks for more: spinning threads
# are slow there. The threads under test are those that share a session.
[ "$kind" = thread ] && export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export TSAN_OPTIONS=suppressions=$TENON_ROOT/tools/sanitizers/tsan.supp:halt_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=4096
pattern=$(IFS='|' && echo "${tests[*]}")
failed=0
ctest --test-dir "$dir" -j "$TENON_JOBS" --output-on-failure --no-tests=error -LE slow \
  -R "^(${pattern:-.*})(_shard[0-9]+)?\$" --output-junit "$dir/suites.xml" || failed=$?
python3 "$TENON_ROOT/tools/sanitizers/suites.py" "$dir/suites.xml" | tee "$dir/suites.md"
exit "$failed"
