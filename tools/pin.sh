#!/usr/bin/env bash
# Writes each requirements.txt from the requirements.in beside it: every package that pip will install, with its version
# and the hashes of its files, so that no other file is ever installed. Versions that still fit stay as they are.
# Options: those of `uv pip compile`, such as --upgrade or --upgrade-package NAME.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

venv=$TENON_CACHE/venv-pin
uv=0.13.9
if ! [ -e "$venv/.uv-$uv" ]; then
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check "uv==$uv"
  touch "$venv/.uv-$uv"
fi
cd "$TENON_ROOT"
git ls-files '*requirements.in' | while read -r file; do
  alone=()
  if grep -q 'without their dependencies' "$file"; then alone=(--no-deps); fi
  "$venv/bin/uv" -q pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
    --custom-compile-command 'tools/pin.sh' "${alone[@]}" "$file" -o "${file%.in}.txt" "$@"
  echo "${file%.in}.txt: $(grep -c '==' "${file%.in}.txt") packages"
done
