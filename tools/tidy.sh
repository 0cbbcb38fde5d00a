#!/usr/bin/env bash
# tools/tidy.sh [FILE…]: runs clang-tidy with the checks of .clang-tidy on the named sources; by
# default on those that differ from main; with --all on all of them. Exits with 1 on findings.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

install_packages clang-tidy
[ -e "$TENON_BUILD/compile_commands.json" ] || configure "$TENON_BUILD" -DCMAKE_BUILD_TYPE=Release
cd "$TENON_ROOT"
if [ "${1:-}" = --all ]; then
  mapfile -t files < <(git ls-files '*.cc' ':!tests/consumer')
elif [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git diff --name-only --diff-filter=d main -- '*.cc')
fi
[ ${#files[@]} -gt 0 ] || exit 0
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$TENON_JOBS" clang-tidy -p "$TENON_BUILD" --quiet --warnings-as-errors='*'
