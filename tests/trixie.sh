#!/usr/bin/env bash
# trixie.sh [CTEST OPTION…]: builds Tenon from source in a new Debian 13, made by debootstrap in a folder, against that
# release's compiler and libraries (oneDNN 3), and there runs the demo, the seven full-size models, whose times it prints
# beside those of this system's build, if there is one, and the tests that need no TensorFlow. Needs root, or sudo.
# TENON_CLEAN_ROOT=FOLDER keeps the Debian, with what was built, for the next time.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib/common.sh"
. "$TENON_ROOT/tools/lib/clean_root.sh"

tensorflow_python  # it made the models and their expected outputs
clean_root trixie
as_root mkdir -p "$CLEAN_ROOT/src"
git -C "$TENON_ROOT" ls-files -z -co --exclude-standard | tar -C "$TENON_ROOT" --null -T - --ignore-failed-read -cf - 2>/dev/null |
  as_root tar -C "$CLEAN_ROOT/src" --no-same-owner -xf -

inside /src/tools/demo.sh
inside sh -c '. /etc/os-release && echo "$PRETTY_NAME" && c++ --version | head -n 1 && dpkg-query -W libdnnl-dev'

say "Running the seven models"
there=$CLEAN_ROOT/tenon_in_debian_13
command_inside "$there" /src/build/bin/tenon "$TENON_CACHE" "${TMPDIR:-/tmp}"
"$TENON_PYTHON" "$TENON_ROOT/tests/parity.py" --tenon "$there" --gates 1
if [ -x "$TENON_BUILD/bin/tenon" ]; then
  say "Times here and in Debian 13, in turn, least ms of one thread"
  "$TENON_PYTHON" "$TENON_ROOT/tests/two_builds.py" "$TENON_BUILD/bin/tenon" "$there"
fi

say "Building the tests"
inside cmake --build /src/build -j "$TENON_JOBS" --target unit_tests
say "Testing"
# From one version of oneDNN to the next, other kernels are right or wrong: a longer sweep than elsewhere.
inside env TENON_SWEEP_COUNT=400 ctest --test-dir /src/build -j "$TENON_JOBS" --output-on-failure --no-tests=error -LE slow "$@"
