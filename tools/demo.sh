#!/usr/bin/env bash
# Installs missing packages, builds, and runs the demo: a small convolutional classifier of handwritten
# digits, trained and exported by tests/makers/train_digits.py, on digits that it has not seen.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

install_build_packages
say "Building"
configure "$TENON_BUILD" -DCMAKE_BUILD_TYPE=Release
cmake --build "$TENON_BUILD" -j "$TENON_JOBS" --target tenon_cli
say "Running the demo"
exec /usr/bin/python3 "$TENON_ROOT/tools/demo.py" --tenon "$TENON_BUILD/bin/tenon"
