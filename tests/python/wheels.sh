#!/usr/bin/env bash
# wheels.sh [PYTHON…]: installs the wheel of dist/ that fits into a new environment of each Python (by default, those
# that pyenv and the PATH have), and runs the package's tests and the examples there, without this process's environment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
  pythons=(/usr/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[0-9].*/bin/python)
fi
tested=0
for python in "${pythons[@]}"; do
  [ -x "$python" ] || continue
  rm -rf "$scratch/venv"
  "$python" -m venv "$scratch/venv"
  clean=(env -i "HOME=$scratch" PATH=/usr/bin:/bin)
  pip=("${clean[@]}" "$scratch/venv/bin/pip" --disable-pip-version-check install -q)
  "${pip[@]}" numpy
  # Not from the package index, which has another package of this name.
  if ! "${pip[@]}" --no-index --find-links "$root/dist" tenon; then
    echo "$python: no wheel fits" >&2
    exit 1
  fi
  # The tests alone, so that nothing is imported from the repository.
  rm -rf "$scratch/tenon"
  "$root/tests/python/copy.sh" "$scratch/tenon"
  (cd "$scratch/tenon/tests/python" && "${clean[@]}" "$scratch/venv/bin/python" -m unittest discover -p '*_test.py')
  "${clean[@]}" "$scratch/venv/bin/python" "$scratch/tenon/tests/examples_test.py" PythonTest
  "${clean[@]}" "$scratch/venv/bin/tenon" dump "$scratch/tenon/tests/models/mlp/saved_model" --stats >/dev/null
  echo "$python: passed"
  tested=$((tested + 1))
done
# In a process that has imported TensorFlow and Keras: they use much of what libraries that are loaded late share.
if [ -x "${TENON_PYTHON-}" ]; then
  tag=$("$TENON_PYTHON" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  for wheel in "$root"/dist/tenon-*-"$tag"-*.whl; do
    if [ -e "$wheel" ]; then
      "$TENON_PYTHON" -m zipfile -e "$wheel" "$scratch/site"
      (cd "$scratch/tenon/tests/python" && PYTHONPATH=$scratch/site TF_CPP_MIN_LOG_LEVEL=2 "$TENON_PYTHON" tensorflow_test.py)
      echo "$(basename "$wheel") after TensorFlow and Keras: passed"
    fi
  done
fi
[ "$tested" -gt 0 ] || { echo "no Python was found" >&2; exit 1; }
