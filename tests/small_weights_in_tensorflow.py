#!/usr/bin/env python3
"""Checks that TensorFlow runs the SavedModels of `tenon quantize --weights`, and computes the same.

  tests/small_weights_in_tensorflow.py [--tenon build/bin/tenon] [MODEL …]

The weights are stored in few bits and multiplied in float on both sides, so only rounding differs. What
the quantization itself costs is larger; it must not be zero, or nothing was stored in few bits.
Needs TensorFlow.
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
FORMATS = ("int8", "int4", "bf16")
# Relative to the largest value of an output: float32 sums in another order.
ROUNDING = 2e-5


def in_tensorflow(folder: pathlib.Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  model = tf.saved_model.load(str(folder))
  outputs = model.signatures["serving_default"](
      **{k: tf.constant(v) for k, v in inputs.items()})
  return {k: v.numpy() for k, v in outputs.items()}


def distance(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
  """The largest difference, relative to the largest value of its output."""
  assert sorted(a) == sorted(b), (sorted(a), sorted(b))
  return max(float(np.abs(a[k] - b[k]).max() / np.abs(b[k]).max()) for k in a)


def check(tenon: pathlib.Path, model: str, form: str) -> list[str]:
  """Findings about one model of tests/models in one format."""
  home = MODELS / model
  findings = []
  with np.load(home / "inputs.npz") as arrays:
    inputs = dict(arrays)
  with np.load(home / "outputs.npz") as arrays:
    exact = dict(arrays)
  with tempfile.TemporaryDirectory() as scratch:
    small = pathlib.Path(scratch) / "small"
    subprocess.run([tenon, "quantize", home / "saved_model", "--weights", form, "--least-weights", "64",
                    "--output", small], check=True, stdout=subprocess.DEVNULL)
    want = in_tensorflow(small, inputs)
    cost = distance(want, exact)
    if cost < 1e-5:
      findings.append(f"{model} {form}: as exact as in float32: no weight was stored in few bits")
    for gate in ("0", "1"):
      out = pathlib.Path(scratch) / "out.npz"
      subprocess.run([tenon, "run", small, "--inputs", home / "inputs.npz", "--outputs", out],
                     check=True, stdout=subprocess.DEVNULL,
                     env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": gate})
      with np.load(out) as arrays:
        apart = distance(dict(arrays), want)
      print(f"{model} {form}, gate {gate}: {apart:.1e} from TensorFlow's, {cost:.1e} from float32's")
      if apart > ROUNDING:
        findings.append(f"{model} {form}, gate {gate}: {apart:.1e} from TensorFlow's values")
  return findings


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=TESTS.parent / "build" / "bin" / "tenon")
  parser.add_argument("models", nargs="*", default=["mlp", "bert4"])
  args = parser.parse_args()
  findings = [finding for model in args.models for form in FORMATS
              for finding in check(args.tenon.resolve(), model, form)]
  for finding in findings:
    print(finding)
  return 1 if findings else 0


if __name__ == "__main__":
  sys.exit(main())
