#!/usr/bin/env bash
# Installs missing packages, builds, runs the demo and then all tests: units, op numerics, rewrite
# rules, models against TensorFlow, the installed package. Ends with ctest's summary.
# Options are passed to ctest: tools/test.sh -R ops_test; tools/test.sh -LE slow.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

"$TENON_ROOT/tools/demo.sh"
tensorflow_python
install_server_packages
install_cluster_packages
install_explorer_packages
say "Building the tests"
build_all
cmake --build "$TENON_BUILD" -j "$TENON_JOBS" --target tenon_server serve_fuzz_test
say "Testing"
exec ctest --test-dir "$TENON_BUILD" -j "$TENON_JOBS" --output-on-failure --no-tests=error "$@"
