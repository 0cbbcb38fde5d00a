#!/usr/bin/env python3
"""Tensors of more than 2^32 elements: where a size or a share of the work is kept in 32 bits, results are wrong.

  tests/wide_sizes.py [--tenon build/bin/tenon] [--only REGEX]      (needs 9 GB of memory)

Each case is a graph that makes such a tensor from a number and fetches its last elements. Prints the time and the
largest resident set so far. Exits with 1 if a result is wrong. The cases are those of TensorFlow's security advisories
(docs/CVES.md).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIDE = 65537  # its square is 2^32 + 2^17 + 1


def broadcast(x: Any) -> Any:
  """CVE-2022-41887."""
  return tf.fill([SIDE, 1], x) + tf.fill([1, SIDE], x)


def segments(x: Any) -> Any:
  """CVE-2019-16778: one row of data into one segment."""
  return tf.math.unsorted_segment_sum(tf.fill([1, SIDE * SIDE], 2 * x), [0], 1)


def relu(x: Any) -> Any:
  """CVE-2020-15202: the threads' shares."""
  return tf.nn.relu(tf.fill([SIDE, SIDE], 2 * x))


CASES = {c.__name__: c for c in (broadcast, segments, relu)}


def run(tenon: pathlib.Path, folder: pathlib.Path, name: str, gate: str) -> np.ndarray:
  """The last two elements of what the case makes of 7."""
  with tf.Graph().as_default() as graph:
    wide = CASES[name](tf.compat.v1.placeholder(tf.int8, [], "x"))
    tf.identity(wide[-1, -2:], "result")
  (folder / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
  np.savez(folder / "in.npz", x=np.int8(7))
  subprocess.run(
      [tenon, "run", folder / "model.pb", "--fetch", "result:0", "--inputs",
       folder / "in.npz", "--outputs", folder / "out.npz"], check=True,
      env=dict(os.environ, TF_ENABLE_ONEDNN_OPTS=gate), stdout=subprocess.DEVNULL)
  with np.load(folder / "out.npz") as arrays:
    return next(iter(arrays.values()))


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("--tenon", type=pathlib.Path, default=ROOT / "build/bin/tenon")
  parser.add_argument("--only", default="")
  args = parser.parse_args()
  wrong = []
  with tempfile.TemporaryDirectory() as folder:
    for name in CASES:
      for gate in ("1", "0"):
        if not re.search(args.only, name):
          continue
        start = time.perf_counter()
        got = run(args.tenon, pathlib.Path(folder), name, gate)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print(f"{name}, gate {gate}: {got}, {time.perf_counter() - start:.1f} s, "
              f"at most {peak:.1f} GB", flush=True)
        if got.tolist() != [14, 14]:
          wrong.append(f"{name}, gate {gate}")
  print("wrong: " + "; ".join(wrong) if wrong else "passed")
  return 1 if wrong else 0


if __name__ == "__main__":
  sys.exit(main())
