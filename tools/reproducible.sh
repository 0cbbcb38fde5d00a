#!/usr/bin/env bash
# Builds what is delivered twice, in folders of different names and depths, and compares it byte by byte: objects, archives, libraries
# and programs, with the Python module, the plug-in and the server, and the wheels that are packed of them.
# Options: the ninja targets to build (default: all of these); --list BUILD: only prints which files of a build would be compared.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

# What must be among the files, so that nothing is left out unnoticed.
delivered=(bin/tenon lib/libtenon.so lib/libtenon.a lib/libtenon_device_abi.so bin/tensorflow_model_server python/tenon/_core
  site-packages/tenon_tensorflow/libtenon_tensorflow.so site-packages/tensorflow-plugins/libtenon_plugin.so)

files_of() {
  (cd "$1" && find . -type f \( -name '*.o' -o -name '*.a' -o -name '*.so*' -o -path './bin/*' -o -path './dist/*' \) | sort)
}

# check_list FILES: whether all that is delivered is there.
check_list() {
  local name missing=0
  for name in "${delivered[@]}"; do
    if ! grep -q "^\./$name" "$1"; then
      echo "not built: $name"
      missing=1
    fi
  done
  return "$missing"
}

if [ "${1:-}" = --list ]; then
  list=$(mktemp)
  trap 'rm -f "$list"' EXIT
  files_of "$2" >"$list"
  cat "$list"
  check_list "$list"
  exit
fi

targets=("$@")
whole=0
if [ ${#targets[@]} -eq 0 ]; then
  targets=(tenon_cli tenon tenon_static tenon_device_abi tenon_python tenon_plugin tenon_server)
  whole=1
fi
install_build_packages
install_server_packages
tensorflow_python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CCACHE_DISABLE=1  # a cached object would be compared with itself
# The folders have no history.
SOURCE_DATE_EPOCH=$(git -C "$TENON_ROOT" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
roots=("$scratch/a" "$scratch/another/folder/b")
for root in "${roots[@]}"; do
  mkdir -p "$root"
  git -C "$TENON_ROOT" archive HEAD | tar -x -C "$root"
  say "Building in $root"
  cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTENON_BUILD_TESTS=OFF -DTENON_BUILD_BENCH=OFF \
    -DTENON_PYTHON="$TENON_PYTHON" >/dev/null
  cmake --build "$root/build" -j "$TENON_JOBS" --target "${targets[@]}" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  if [ "$whole" = 1 ]; then
    nanobind=$("$TENON_PYTHON" -c 'import nanobind; print(nanobind.__path__[0])')
    for wheel in "" "--core $(echo "$root"/build/python/tenon/_core*.so) --nanobind $nanobind"; do
      # shellcheck disable=SC2086  # several options
      python3 "$root/tools/wheel.py" --build "$root/build" --output "$root/build/dist" $wheel
    done
  fi
done
files_of "${roots[0]}/build" >"$scratch/list"
different=0 compared=0
[ "$whole" = 0 ] || check_list "$scratch/list" || different=1
while read -r file; do
  compared=$((compared + 1))
  if ! cmp "${roots[0]}/build/$file" "${roots[1]}/build/$file"; then
    different=$((different + 1))
  fi
done <"$scratch/list"
say "Reproducible"
echo "$compared files compared, $different differ or are missing"
[ "$compared" -gt 0 ] && [ "$different" -eq 0 ]
