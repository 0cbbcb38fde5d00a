#!/usr/bin/env bash
# copy.sh FOLDER: copies the tests of the installed package, the examples in Python and what both read into a new folder, from
# which nothing of the package itself can be imported.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$root"
cp -r --parents tests/python tests/examples_test.py tests/models/{mlp,digits,mobilenetv2,generate,loader/composites} docs examples \
  bench/graph_size.py tools/ops_stub.py "$to"
