#!/usr/bin/env bash
# check.sh BUILD MODEL: installs BUILD into a new prefix, builds the consumer and the programs of
# docs/C_API.md against it, runs them, and checks that the library exports the C interface and
# nothing else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$1" --prefix "$scratch/prefix" > /dev/null
mkdir "$scratch/snippets"
awk -v to="$scratch/snippets/snippet_" '
  /^```(c|cpp)$/ { n++; file = to n ($0 == "```c" ? ".c" : ".cc"); next }
  /^```$/ { file = ""; next }
  file != "" { print > file }' "$here/../../docs/C_API.md"
cmake -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
      -DSNIPPETS="$scratch/snippets" > /dev/null
cmake --build "$scratch/build"
"$scratch/build/consumer" "$2"
"$scratch/build/consumer_c"
"$scratch/build/consumer_first" "$2"
model=$(realpath "$2")
[[ -x $scratch/build/snippet_1 && -x $scratch/build/snippet_2 ]]
for program in "$scratch"/build/snippet_[0-9]; do
  (cd "$scratch" && "$program" "$model")
done
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$scratch/trace.json"
"$scratch/prefix/bin/tenon" --version

# Each header works by itself.
for header in "$scratch"/prefix/include/tenon/*.h*; do
  [[ $header == *.hpp ]] && as=(-x c++ -std=c++17) || as=(-x c -std=c99)
  [[ $(basename "$header") == device_plugin*.h || $(basename "$header") == plugin.h ]] && as=(-x c++ -std=c++17)
  c++ "${as[@]}" -Wall -Wextra -fsyntax-only -I "$scratch/prefix/include" \
    -include "tenon/$(basename "$header")" /dev/null
done

library=$(find "$scratch/prefix" -name 'libtenon.so')
if nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^tenon_'; then
  echo "libtenon.so exports more than tenon_*" >&2
  exit 1
fi
