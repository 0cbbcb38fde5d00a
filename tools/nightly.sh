#!/usr/bin/env bash
# Runs tests that take hours: all tests, the complete numeric suites under each limit of the
# instruction set, the unit tests under sanitizers, the plug-in in older TensorFlows, faults, the server under load tools
# and a mixed load for an hour, all tests on clusters, the explorer with all models, the wheels and Debian packages,
# graphs of up to 100,000 nodes, a model of 5 GB and tensors of 2^32 elements, a day of mixed work in one process.
# Continues after a failure; ends with a line per part, which build/nightly.md keeps with the dates of the last runs.
# Options: the parts to run (tests, isa, changes (of the fuzz corpus, at random), programs, inside (see below), packages (KerasHub's and transformers' generate), valgrind, asan, versions, faults, serve, cluster, explorer, debs, wheels, trixie (Debian 13), sizes, soak); default: all of these.
# programs (1,000 random programs of TensorFlow, tests/programs.py) takes the date as the seed, new programs each day;
# inside runs 300 others inside TensorFlow with the plug-in.
# More parts, which run only if they are named until each has passed as a whole once: tsan, assertions, fuzz,
# contract (single ops against TensorFlow), recorded (TensorFlow's own tests, of the checkout TENON_TENSORFLOW_SOURCE),
# reproducible (two builds in different folders).
# TENON_FUZZ_SECONDS: of CPU time for each fuzz target (600). TENON_SOAK_SECONDS: of mixed work (86400).
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(tests isa changes programs inside packages valgrind asan versions faults serve cluster explorer debs wheels trixie sizes soak)
install_build_packages
tensorflow_python

run_tests() { "$TENON_ROOT/tools/test.sh"; }
run_isa() { build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/isa.py" --build "$TENON_BUILD"; }
run_asan() { "$TENON_ROOT/tools/sanitize.sh" address,undefined; }
run_tsan() { "$TENON_ROOT/tools/sanitize.sh" thread; }
run_assertions() { "$TENON_ROOT/tools/sanitize.sh" assertions; }
run_valgrind() { "$TENON_ROOT/tests/valgrind.sh"; }
run_changes() {
  build_all && TENON_FUZZ_SEED=random TENON_FUZZ_SHARED_SECONDS=3600 "$TENON_BUILD/bin/fuzz_test" --gtest_filter='*FuzzCorpus.Changed*'
}
run_packages() {
  local python models=$TENON_BUILD/packages maker
  build_all && python=$(python3 "$TENON_ROOT/tools/environments.py" packages) || return 1
  for maker in keras_hub_models transformers_models; do
    "$python" "$TENON_ROOT/tests/makers/$maker.py" --out "$models" || return 1
  done
  TENON_TEST_STEPS=$models "$TENON_BUILD/bin/models_test" --gtest_filter='*StepsTest*'
}
run_contract() {
  build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/contract.py" --build "$TENON_BUILD" --seed "$(date +%j)"
}
run_programs() {
  build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/programs.py" --build "$TENON_BUILD" --seed "$(date +%Y%m%d)000" --count 1000 \
    --keep "$TENON_BUILD/programs"
}
run_inside() {
  build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/programs.py" --inside-tensorflow "$TENON_BUILD/site-packages" \
    --seed "$(date +%Y%m%d)5000" --count 300 --keep "$TENON_BUILD/programs-inside"
}
run_recorded() {
  build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/recorded.py" --build "$TENON_BUILD" --keep "$TENON_BUILD/recorded" \
    --source "${TENON_TENSORFLOW_SOURCE:?a checkout of TensorFlow}"
}
run_fuzz() { "$TENON_ROOT/tools/fuzz.sh" "${TENON_FUZZ_SECONDS:-600}"; }
run_versions() {
  build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/plugin/versions.py" \
    --site-packages "$TENON_BUILD/site-packages"
}
run_faults() {
  build_all && TENON_FAULTS_LONG=1 OMP_WAIT_POLICY=passive "$TENON_BUILD/bin/faults_test"
}
run_serve() {
  install_server_packages
  build_all && cmake --build "$TENON_BUILD" -j "$TENON_JOBS" --target tenon_server &&
    "$TENON_PYTHON" "$TENON_ROOT/tests/serve/load.py" --server "$TENON_BUILD/bin/tensorflow_model_server" &&
    "$TENON_PYTHON" "$TENON_ROOT/tests/serve/soak.py" --server "$TENON_BUILD/bin/tensorflow_model_server" \
      --plot "$TENON_BUILD/serve-load.svg"
}
run_debs() { "$TENON_ROOT/tools/debs.sh" && "$TENON_ROOT/tests/debs.sh"; }
run_wheels() { "$TENON_ROOT/tools/wheels.sh" && "$TENON_ROOT/tests/python/wheels.sh" && "$TENON_ROOT/tests/python/wheels_in_debian.sh"; }
run_reproducible() { "$TENON_ROOT/tools/reproducible.sh"; }
run_trixie() { "$TENON_ROOT/tests/trixie.sh"; }
run_cluster() {
  install_cluster_packages && build_all && "$TENON_PYTHON" "$TENON_ROOT/tests/cluster/cluster_test.py" --all --build "$TENON_BUILD"
}
run_explorer() {
  install_explorer_packages && build_all && "$TENON_ROOT/tools/explorer/build.py" --check &&
    python3 "$TENON_ROOT/tests/explorer/page_test.py" --tenon "$TENON_BUILD/bin/tenon" --long
}
with_package() { PYTHONPATH="$TENON_BUILD/python" "$TENON_PYTHON" "$TENON_ROOT/$1" "${@:2}"; }
run_sizes() {
  build_all && with_package bench/graph_size.py --plot "$TENON_BUILD/graph-size.svg" && with_package tests/large_model.py &&
    "$TENON_PYTHON" "$TENON_ROOT/tests/wide_sizes.py" --tenon "$TENON_BUILD/bin/tenon"
}
run_soak() {
  build_all && with_package tests/soak.py --seconds "${TENON_SOAK_SECONDS:-86400}" --plot "$TENON_BUILD/soak.svg"
}

# remember PART ROW: the last result of each part, over all runs of this script.
remember() {
  local table=$TENON_BUILD/nightly.md
  mkdir -p "$TENON_BUILD"
  [ -e "$table" ] || printf '| part | result | date | minutes |\n|---|---|---|---|\n' >"$table"
  sed -i "/^| $1 |/d" "$table"
  echo "$2" >>"$table"
}

failed=0 summary=()
for part in "${parts[@]}"; do
  say "Nightly: $part"
  started=$SECONDS
  if "run_$part"; then result=passed; else
    result=FAILED
    failed=$((failed + 1))
  fi
  summary+=("$part: $result, $(((SECONDS - started) / 60)) minutes")
  remember "$part" "| $part | $result | $(date -u +%F) | $(((SECONDS - started) / 60)) |"
done
say "Nightly"
printf '%s\n' "${summary[@]}"
echo "$((${#parts[@]} - failed)) passed, $failed failed"
exit $((failed > 0))
