#!/usr/bin/env python3
"""Checks that TensorFlow runs the output of `tenon quantize`, with the same integers.

  tests/quantized_in_tensorflow.py [--tenon build/bin/tenon] [MODEL …]

Every quantized tensor is compared: no element may differ by more than 1
(both round to nearest, but sums differ in their last bits), unless
a tensor that it is computed from differs already in the same sample,
and few may differ at all. Needs TensorFlow.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

TESTS = pathlib.Path(__file__).resolve().parent
MODELS = TESTS / "models"
# A difference in one tensor makes some in the next.
MOST_DIFFERENT = 0.01


class Quantized(NamedTuple):
  """A tensor of data, by TensorFlow."""

  values: np.ndarray
  step: float
  sources: set[str]  # the other ones that it depends on


def depends_on(graph_def: Any, names: set[str]) -> dict[str, set[str]]:
  """For each of these nodes, the other ones that it depends on."""
  inputs = {n.name: [i.lstrip("^").split(":")[0] for i in n.input]
            for n in graph_def.node}
  found: dict[str, set[str]] = {}
  for name in names:
    seen, todo = {name}, [name]
    while todo:
      new = set(inputs[todo.pop()]) - seen
      seen |= new
      todo += new
    found[name] = (seen & names) - {name}
  return found


def in_tensorflow(path: pathlib.Path, inputs: dict[str, np.ndarray]
                  ) -> dict[str, Quantized]:
  """Each Dequantize of data."""
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
  sources = depends_on(graph_def, set(got))
  return {k: Quantized(v[0], float(v[2]) / 127 if signed[wanted[k][3]]
                       else float(v[2] - v[1]) / 255, sources[k])
          for k, v in got.items()}


def samples_that_differ(apart: np.ndarray, samples: int) -> np.ndarray:
  """For each of so many samples; all, if `apart` has another number of them."""
  differ = apart > 0.5
  if len(apart) != samples:
    return np.full(samples, differ.any())
  return differ.reshape(samples, -1).any(axis=1)


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
    want = in_tensorflow(int8, inputs)
    for gate in ("0", "1"):
      environment["TF_ENABLE_ONEDNN_OPTS"] = gate
      subprocess.run([tenon, "run", int8, "--inputs", folder / "inputs.npz",
                      "--fetch", ",".join(f"{k}:0" for k in want),
                      "--outputs", out], check=True, env=environment)
      with np.load(out) as arrays:
        got = {k.removesuffix(":0"): v for k, v in arrays.items()}
      apart = {name: np.abs(got[name] - tensor.values) / tensor.step
               for name, tensor in want.items()}
      worst = most = 0.0
      for name, tensor in want.items():
        here = apart[name]
        same = ~np.any([np.zeros(len(here), bool)] + [
            samples_that_differ(apart[source], len(here))
            for source in tensor.sources], axis=0)
        first = here[same].max(initial=0)
        worst = max(worst, first)
        most = max(most, np.mean(here > 0.5))
        if first > 1.01 or np.mean(here > 0.5) > MOST_DIFFERENT:
          findings.append(
              f"{model}, gate {gate}: {name}: up to {first:.2f} steps "
              f"apart where its sources agree, "
              f"{100 * np.mean(here > 0.5):.3f} % differ")
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
