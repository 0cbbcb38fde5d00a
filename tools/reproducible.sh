#!/usr/bin/env bash
# Builds the library and the command line twice, in folders of different names and depths, and compares them byte by
# byte. Options: the ninja targets to build; default: tenon_cli, the shared library and the archive.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(tenon_cli tenon tenon_static)
install_build_packages
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CCACHE_DISABLE=1  # a cached object would be compared with itself
roots=("$scratch/a" "$scratch/another/folder/b")
for root in "${roots[@]}"; do
  mkdir -p "$root"
  git -C "$TENON_ROOT" archive HEAD | tar -x -C "$root"
  say "Building in $root"
  cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTENON_BUILD_TESTS=OFF -DTENON_BUILD_BENCH=OFF >/dev/null
  cmake --build "$root/build" -j "$TENON_JOBS" --target "${targets[@]}" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
done
different=0 compared=0
while read -r file; do
  compared=$((compared + 1))
  if ! cmp "${roots[0]}/build/$file" "${roots[1]}/build/$file"; then
    different=$((different + 1))
  fi
done < <(cd "${roots[0]}/build" && find . -type f \( -name '*.o' -o -name '*.a' -o -name '*.so*' -o -path './bin/*' \))
say "Reproducible"
echo "$compared files compared, $different differ"
[ "$compared" -gt 0 ] && [ "$different" -eq 0 ]
