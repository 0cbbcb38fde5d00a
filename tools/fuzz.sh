#!/usr/bin/env bash
# tools/fuzz.sh [SECONDS [TARGET…]]: builds the fuzzers with clang, AddressSanitizer and UndefinedBehaviorSanitizer
# in build-fuzz, and searches the inputs of each target (tests/fuzz/targets, tests/serve/fuzz) for that many seconds of
# CPU time, 60 by default, from what earlier searches kept.
# docs/FUZZING.md explains the results.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

dir=${TENON_FUZZ_BUILD:-$TENON_ROOT/build-fuzz}
install_build_packages
install_fuzz_packages
install_server_packages
CXX=clang++-19 configure "$dir" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1 -D_GLIBCXX_ASSERTIONS -DNDEBUG" -DTENON_FUZZ=ON \
  -DTENON_SANITIZE=address,undefined -DTENON_BUILD_BENCH=OFF
cmake --build "$dir" -j "$TENON_JOBS" --target fuzz serve_fuzz
exec python3 "$TENON_ROOT/tests/fuzz/search.py" --fuzzer "$dir/bin/fuzz" --fuzzer "$dir/bin/serve_fuzz" \
  --learned "$TENON_CACHE/fuzz" --jobs "$TENON_JOBS" --output "$dir/fuzz" --seconds "${1:-60}" "${@:2}"
