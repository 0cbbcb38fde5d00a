#!/usr/bin/env bash
# wheels_in_debian.sh [RELEASE…]: installs the wheel of dist/ (tools/wheels.sh) that fits into a new environment in a new
# Debian of each release, made by debootstrap in a folder (by default Debian 12 and 13), which has Python and NumPy, but no
# compiler and no development package. There it runs the package's tests and the examples. Needs root, or sudo.
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"
. "$TENON_ROOT/tools/lib/clean_root.sh"

# test_in RELEASE
test_in() {
  clean_root "$1"
  say "Installing the wheel in Debian $1"
  inside apt-get update -qq
  inside sh -c 'apt-get install -y -qq --no-install-recommends python3-venv python3-numpy' >/dev/null
  as_root "$TENON_ROOT/tests/python/copy.sh" "$CLEAN_ROOT/tenon"
  as_root cp -r "$TENON_ROOT/dist" "$CLEAN_ROOT/"
  # Debian 13's NumPy brings its headers.
  inside sh -c 'python3 --version
    if command -v cc || dpkg-query -W | cut -f 1 | grep -v "^python3-numpy-dev" | grep -E -e "-dev(:|\$)"; then
      echo "this system has packages for building" >&2
      exit 1
    fi'
  inside python3 -m venv --system-site-packages /venv
  inside /venv/bin/pip --disable-pip-version-check install -q --no-index --find-links /dist tenon
  say "Testing the package in Debian $1"
  inside sh -c 'cd /tenon/tests/python && exec /venv/bin/python -m unittest discover -p "*_test.py"'
  inside /venv/bin/python /tenon/tests/examples_test.py PythonTest
  inside /venv/bin/tenon dump /tenon/tests/models/mlp/saved_model --stats >/dev/null
  echo "the wheel works in a new Debian $1"
}

[ $# -gt 0 ] || set -- bookworm trixie
for release in "$@"; do
  (test_in "$release")  # the end of the parentheses deletes the Debian
done
