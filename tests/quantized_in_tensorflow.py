#!/usr/bin/env python3
"""Checks that TensorFlow runs the output of `tenon quantize`, with the same integers.

  tests/quantized_in_tensorflow.py [--tenon build/bin/tenon] [MODEL …]

Every quantized tensor is compared: no element may differ by more than 1
(both round to nearest, but sums differ in their last bits),
and few may differ at all. Needs TensorFlow.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

TESTS = pathlib.Path(__file__).resolve().parent
MODELS = TESTS / "models"
# A difference in one tensor makes some in the next.
MOST_DIFFERENT = 0.01


def in_tensorflow(path: pathlib.Path, inputs: dict[str, np.ndarray]
                  ) -> tuple[dict[str, np.ndarray], dict[str, float]]:
  """Each Dequantize of data, and its step."""
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  graph_def = tf.compat.v1.GraphDef.FromString(path.read_bytes())
  names = [n.name for n in graph_def.node if n.op == "QuantizeV2"]
  graph = tf.Graph()
  with graph.as_default():
    tf.import_graph_def(graph_def, name="")
  dequantized = [n.name for n in graph_def.node
                 if n.op == "Dequantize" and n.input[0] in names]
  readers = {n.input[0]: n.name for n in graph_def.node
             if n.op == "Dequantize"}
  wanted = {readers[n]: (f"{readers[n]}:0", f"{n}:1", f"{n}:2", n)
            for n in names}
  assert sorted(wanted) == sorted(dequantized)
  # qint8 goes from -127 to 127 times the step, quint8 has 255 from end to end.
  signed = {n.name: n.attr["T"].type == tf.qint8.as_datatype_enum
            for n in graph_def.node if n.op == "QuantizeV2"}
  with tf.compat.v1.Session(graph=graph) as session:
    got = session.run({k: v[:3] for k, v in wanted.items()},
                      {f"{k}:0": v for k, v in inputs.items()})
  values = {k: v[0] for k, v in got.items()}
  steps = {k: float(v[2]) / 127 if signed[wanted[k][3]]
           else float(v[2] - v[1]) / 255 for k, v in got.items()}
  return values, steps


def check(tenon: pathlib.Path, model: str) -> list[str]:
  """Findings about one model of tests/models."""
  folder = MODELS / model
  findings = []
  with tempfile.TemporaryDirectory() as scratch:
    int8 = pathlib.Path(scratch) / "int8.pb"
    out = pathlib.Path(scratch) / "out.npz"
    environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"}
    subprocess.run([tenon, "quantize", folder / "saved_model", "--data",
                    folder / "inputs.npz", "--output", int8], check=True,
                   stdout=subprocess.DEVNULL, env=environment)
    with np.load(folder / "inputs.npz") as arrays:
      inputs = dict(arrays)
    want, steps = in_tensorflow(int8, inputs)
    for gate in ("0", "1"):
      environment["TF_ENABLE_ONEDNN_OPTS"] = gate
      subprocess.run([tenon, "run", int8, "--inputs", folder / "inputs.npz",
                      "--fetch", ",".join(f"{k}:0" for k in want),
                      "--outputs", out], check=True, env=environment)
      with np.load(out) as arrays:
        got = {k.removesuffix(":0"): v for k, v in arrays.items()}
      worst = most = 0.0
      for name, values in want.items():
        apart = np.abs(got[name] - values) / steps[name]
        worst = max(worst, apart.max())
        most = max(most, np.mean(apart > 0.5))
        if apart.max() > 1.01 or np.mean(apart > 0.5) > MOST_DIFFERENT:
          findings.append(
              f"{model}, gate {gate}: {name}: up to {apart.max():.2f} steps "
              f"apart, {100 * np.mean(apart > 0.5):.3f} % differ")
      print(f"{model}, gate {gate}: {len(want)} tensors, at most "
            f"{worst:.2f} steps apart, {100 * most:.3f} % differ")
  return findings


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=TESTS.parent / "build" / "bin" / "tenon")
  parser.add_argument("models", nargs="*",
                      default=["digits", "resnet50", "bert4"])
  args = parser.parse_args()
  findings = []
  for model in args.models:
    findings += check(args.tenon.resolve(), model)
  for finding in findings:
    print(finding)
  return 1 if findings else 0


if __name__ == "__main__":
  sys.exit(main())
