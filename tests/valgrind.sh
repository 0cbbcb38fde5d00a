#!/usr/bin/env bash
# valgrind.sh [MODEL…]: imports, rewrites and exports models under Valgrind's memcheck, which sees reads of uninitialized
# memory, in the distribution's libraries too; default: the small models of tests/models/loader in each format, a loop, and two of JAX's.
# Prints a line per model; fails if there is an error or a leak.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib/common.sh"

models=("$@")
if [ ${#models[@]} -eq 0 ]; then
  loader=$TENON_ROOT/tests/models/loader
  models=("$loader"/{tables,mutable_tables,sliced,composites,module_two_signatures}/saved_model
    "$loader"/tf1_{partitioned,resource,three_shards,variable_v2}/saved_model
    "$loader"/frozen_mlp/graph.pb{,txt} "$loader"/remapped/graph.pbtxt "$TENON_ROOT"/tests/models/control/loops/saved_model
    "$TENON_ROOT"/tests/models/jax/{flow,indexing}/saved_model)
fi
install_build_packages
install_packages valgrind
configure "$TENON_BUILD"
cmake --build "$TENON_BUILD" -j "$TENON_JOBS" --target tenon_cli
log=$(mktemp) output=$(mktemp --suffix=.pb)
trap 'rm -f "$log" "$output"' EXIT
failed=0
for model in "${models[@]}"; do
  started=$SECONDS
  # Possibly lost: what libraries keep a pointer into until the process ends.
  if OMP_NUM_THREADS=1 valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    "$TENON_BUILD/bin/tenon" export "$model" "$output" --private >"$log" 2>&1; then result=passed; else
    result=FAILED failed=1
    cat "$log"
  fi
  echo "${model#"$TENON_ROOT"/}: $result, $((SECONDS - started)) s"
done
exit "$failed"
