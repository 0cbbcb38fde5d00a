# Sourced by the scripts in tools/: paths, and functions that install missing packages.
# shellcheck shell=bash
set -euo pipefail

TENON_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TENON_CACHE=${TENON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tenon}  # virtual environments, big models
TENON_BUILD=${TENON_BUILD:-$TENON_ROOT/build}
TENON_JOBS=${TENON_JOBS:-$(nproc)}
# ccache: BASEDIR and NOHASHDIR let another clone use what this one compiled, wherever it lies. DEPEND takes the
# headers from the compiler's list of dependencies: a preprocessor run for each file would add a quarter to a build
# from nothing. SLOPPINESS is required for precompiled headers.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$TENON_ROOT} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}

say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages PACKAGE…: installs those of the Debian packages that are missing.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# install_listed FILE: the packages of a list, one per line; people who install by hand use the same lists.
install_listed() {
  local packages
  mapfile -t packages < <(grep -v '^#' "$1")
  install_packages "${packages[@]}"
}

install_build_packages() { install_listed "$TENON_ROOT/tools/packages.txt"; }

# For the target tenon_server, which the default build does not have.
install_server_packages() { install_listed "$TENON_ROOT/tools/serve/packages.txt"; }

# For the tests of the explorer's page, and for building its script.
install_explorer_packages() { install_listed "$TENON_ROOT/tools/explorer/packages.txt"; }

# For tools/fuzz.sh.
install_fuzz_packages() { install_listed "$TENON_ROOT/tests/fuzz/packages.txt"; }

# For the tests on clusters, whose Python packages they install themselves.
install_cluster_packages() { install_listed "$TENON_ROOT/tests/cluster/packages.txt"; }

# tensorflow_python: makes sure of the virtual environment with TensorFlow; sets TENON_PYTHON.
# Its requirements are tools/requirements.txt; a change of that file makes it anew.
tensorflow_python() {
  local venv=$TENON_CACHE/venv stamp
  stamp=$(sha256sum "$TENON_ROOT/tools/requirements.txt" | cut -c1-16)
  if [ ! -e "$venv/.tenon-$stamp" ]; then
    say "Installing TensorFlow into $venv"
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$TENON_ROOT/tools/requirements.txt"
    touch "$venv/.tenon-$stamp"
  fi
  TENON_PYTHON=$venv/bin/python
  export TENON_PYTHON
}

# configure DIR [cmake option…]
configure() {
  local dir=$1
  shift
  local launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -S "$TENON_ROOT" -B "$dir" -G Ninja "${launcher[@]}" "$@" >/dev/null
}

# build_all: the command line, the plug-in, the tests and what they need. After tensorflow_python.
build_all() {
  configure "$TENON_BUILD" -DCMAKE_BUILD_TYPE=Release -DTENON_PYTHON="$TENON_PYTHON"
  cmake --build "$TENON_BUILD" -j "$TENON_JOBS"
}
