#!/usr/bin/env python3
"""Whether the same input gives the same bits, whatever else is different.

  tests/determinism.py [--tenon build/bin/tenon] [--models FOLDER] [--markdown]

For each of the seven benchmark networks, a row's result with one thread is compared, bit for
bit, with that of a second run, of 2 and of 4 threads, of the disk cache (first and second
start), and of batches: row 0 of 2, row 3 of 8. "Another place" compares row 3 of a batch of 8
with row 0 of one. The exit status is 1 if a difference is found that docs/NUMERICS.md does
not state: ALLOWED has those. A difference is given as the largest one, relative to the largest
value, in units of 1e-7.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools")]

# pylint: disable=wrong-import-position
import environments

NETWORKS = ("resnet50", "mobilenetv2", "efficientnetb0", "inceptionv3", "densenet121", "bert4",
            "mlp")
# What a result may depend on: kernels are chosen by the number of rows.
ALLOWED = {"row 0 of 2", "row 3 of 8"}
# The largest difference that another order of sums explains: what models_test allows
# between two implementations, in units of 1e-7.
MOST = 100


def run(tenon: pathlib.Path, model: pathlib.Path, inputs: dict[str, Any], threads: int,
        *options: str) -> dict[str, Any]:
  import numpy as np  # pylint: disable=import-outside-toplevel
  with tempfile.TemporaryDirectory() as folder:
    given, got = pathlib.Path(folder) / "in.npz", pathlib.Path(folder) / "out.npz"
    np.savez(given, **inputs)
    done = subprocess.run(
        [tenon, "run", model, "--threads", str(threads), "--inputs", given,
         "--outputs", got, *options], capture_output=True, text=True, check=False)
    if done.returncode:
      raise RuntimeError(f"{model}: {done.stderr.strip()}")
    with np.load(got) as arrays:
      return dict(arrays)


def batch(row: Any, size: int, at: int) -> Any:
  """`row`, [1, …], at `at` among `size` rows; the others have its values in other places."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  rows = [np.roll(row, 7 * i + 1, axis=None) for i in range(size)]
  rows[at] = row
  return np.concatenate(rows)


def difference(got: dict[str, Any], wanted: dict[str, Any], row: int) -> float:
  """0 if every bit is the same."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  worst = 0.0
  for name, value in wanted.items():
    part = got[name][row:row + 1]
    if part.tobytes() != value.tobytes():
      worst = max(worst, float(np.max(np.abs(part - value)) / np.max(np.abs(value))), 1e-12)
  return worst * 1e7


def compare(tenon: pathlib.Path, model: pathlib.Path, row: dict[str, Any]) -> dict[str, float]:
  wanted = run(tenon, model, row, 1)
  differences = {"again": difference(run(tenon, model, row, 1), wanted, 0)}
  for threads in (2, 4):
    differences[f"{threads} threads"] = difference(run(tenon, model, row, threads), wanted, 0)
  with tempfile.TemporaryDirectory() as cache:
    for start in ("first", "second"):
      got = run(tenon, model, row, 1, "--cache-dir", cache)
      differences[f"disk cache, {start} start"] = difference(got, wanted, 0)
  for size, at in ((2, 0), (8, 3)):
    rows = {name: batch(value, size, at) for name, value in row.items()}
    got = run(tenon, model, rows, 1)
    differences[f"row {at} of {size}"] = difference(got, wanted, at)
  first = run(tenon, model, {name: batch(value, 8, 0) for name, value in row.items()}, 1)
  first = {name: value[:1] for name, value in first.items()}
  differences["another place"] = difference(got, first, 3)
  return differences


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--tenon", type=pathlib.Path, default=ROOT / "build" / "bin" / "tenon")
  parser.add_argument("--models", type=pathlib.Path, default=ROOT / "tests" / "models")
  parser.add_argument("--markdown", action="store_true")
  args = parser.parse_args()
  environments.reexec("main")
  import numpy as np  # pylint: disable=import-outside-toplevel
  wrong, table = [], {}
  for network in NETWORKS:
    model = args.models / network
    if (model / "saved_model").exists():
      model = model / "saved_model"
    given = args.models / network / "inputs.npz"
    with np.load(given if given.exists() else args.models / f"{network}.npz") as arrays:
      row = dict(arrays)
    table[network] = compare(args.tenon, model, row)
    for what, size in table[network].items():
      if size > (MOST if what in ALLOWED else 0):
        wrong.append(f"{network}, {what}: {size:.3g}")
  columns = list(next(iter(table.values())))
  bar = "|" if args.markdown else " "
  print(bar, f" {bar} ".join(["network", *columns]), bar)
  if args.markdown:
    print("|---" * (len(columns) + 1) + "|")
  for network, row in table.items():
    cells = ["same" if v == 0 else f"{v:.2g}" for v in row.values()]
    print(bar, f" {bar} ".join([network, *cells]), bar)
  for line in wrong:
    print("differs:", line)
  return 1 if wrong else 0


if __name__ == "__main__":
  sys.exit(main())
