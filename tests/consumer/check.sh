#!/usr/bin/env bash
# check.sh BUILD MODEL: installs BUILD into a new prefix, builds the consumer against it, runs it,
# and checks that the library exports the C interface and nothing else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$1" --prefix "$scratch/prefix" > /dev/null
cmake -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" > /dev/null
cmake --build "$scratch/build"
"$scratch/build/consumer" "$2"
"$scratch/build/consumer_c"
"$scratch/build/consumer_first" "$2"
"$scratch/prefix/bin/tenon" --version

library=$(find "$scratch/prefix" -name 'libtenon.so')
if nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^tenon_'; then
  echo "libtenon.so exports more than tenon_*" >&2
  exit 1
fi
