#!/usr/bin/env bash
# check.sh BUILD MODEL: installs BUILD into a new prefix, builds programs against it and runs them (use.sh), and
# checks that the libraries export the C interface and nothing else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$1" --prefix "$scratch/before" > /dev/null
mv "$scratch/before" "$scratch/prefix"  # nothing installed knows where it was
"$here/use.sh" "$2" "$scratch/prefix"
"$scratch/prefix/bin/tenon" --version

# Each header works by itself.
for header in "$scratch"/prefix/include/tenon/*.h*; do
  [[ $header == *.hpp ]] && as=(-x c++ -std=c++17) || as=(-x c -std=c99)
  [[ $(basename "$header") == device_plugin*.h || $(basename "$header") == plugin.h ]] && as=(-x c++ -std=c++17)
  c++ "${as[@]}" -Wall -Wextra -fsyntax-only -I "$scratch/prefix/include" \
    -include "tenon/$(basename "$header")" /dev/null
done

# Symbols of the kind "u" are those that C++ itself shares in a process.
for library in "-D $(find "$scratch/prefix" -name libtenon.so)" "$(find "$scratch/prefix" -name libtenon.a)"; do
  # shellcheck disable=SC2086
  if nm --defined-only --extern-only $library | awk 'NF == 3 && $2 != "u" {print $3}' | grep -v '^tenon_'; then
    echo "$library exports more than tenon_*" >&2
    exit 1
  fi
done
