#!/usr/bin/env bash
# use.sh MODEL [PREFIX]: builds the consumer, the programs of docs/C_API.md and the examples against the Tenon
# that is installed (in PREFIX), with find_package and with pkg-config, shared and static, and runs them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
model=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "${2-}" ]; then
  export CMAKE_PREFIX_PATH=$2
  pc=$(find "$2" -name tenon.pc)
  export PKG_CONFIG_PATH=${pc%/*}
  libraries=${pc%/pkgconfig/*}
fi

mkdir "$scratch/snippets"
awk -v to="$scratch/snippets/snippet_" '
  /^```(c|cpp)$/ { n++; file = to n ($0 == "```c" ? ".c" : ".cc"); next }
  /^```$/ { file = ""; next }
  file != "" { print > file }' "$root/docs/C_API.md"
cmake -S "$here" -B "$scratch/build" -G Ninja -DSNIPPETS="$scratch/snippets" > /dev/null
cmake --build "$scratch/build"
"$scratch/build/consumer" "$model" "$root/tests/models/generate"
"$scratch/build/consumer_static" "$model" "$root/tests/models/generate"
"$scratch/build/consumer_c"
"$scratch/build/consumer_first" "$model"
[[ -x $scratch/build/snippet_1 && -x $scratch/build/snippet_2 ]]
for program in "$scratch"/build/snippet_[0-9]; do
  (cd "$scratch" && "$program" "$model")
done
grep -q traceEvents "$scratch/trace.json"

cmake -S "$root/examples" -B "$scratch/examples" -G Ninja > /dev/null
cmake --build "$scratch/examples"
"$scratch/examples/examples/bin/quantize_c" "$model" "$scratch/small.pb" > /dev/null

for package in tenon tenon-static; do
  # shellcheck disable=SC2046
  cc "$here/main.c" -o "$scratch/$package" $(pkg-config --cflags --libs $package)
  LD_LIBRARY_PATH=${libraries-} "$scratch/$package"
  needed=$(readelf -d "$scratch/$package" | grep -c 'NEEDED.*libtenon' || true)
  [ "$needed" = "$([ $package = tenon ] && echo 1 || echo 0)" ] || { echo "$package: linked wrongly" >&2; exit 1; }
done
