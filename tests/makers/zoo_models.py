#!/usr/bin/env python3
"""Writes the models of bench/compare's tables zoo and breadth, with TensorFlow's outputs.

  tests/makers/zoo_models.py --out DIR [NAME ...]

Each DIR/NAME holds saved_model/, inputs.npz and outputs.npz (batch 1),
inputs_b2.npz and outputs_b2.npz (batch 2), and model.json with versions. The
architectures are those of transformers, keras.applications and well-known
papers; weights are seeded random numbers, biases and statistics of batch norms
among them. Outputs come from TensorFlow with oneDNN off.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
import sys
import zlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_USE_LEGACY_KERAS"] = "1"  # for transformers; Keras 3 is `keras`

# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf

import breadth
import recording
import zoo

# The module and the function that build each network.
NETWORKS = {name: (f"{table.__name__}.{module}", function)
            for table in (zoo, breadth)
            for name, (module, function) in table.NETWORKS.items()}


def randomize(variables: list[tf.Variable], seed: int) -> None:
  """Gives biases, scales and statistics random values; keeps the kernels."""
  rng = np.random.default_rng(seed)
  for variable in variables:
    kind = getattr(variable, "path", variable.name).split("/")[-1].split(":")[0]
    shape = tuple(variable.shape)
    if kind in ("beta", "bias", "moving_mean"):
      value = rng.normal(0, 0.1, shape)
    elif kind == "gamma":
      value = rng.uniform(0.8, 1.2, shape)
    elif kind == "moving_variance":
      value = rng.uniform(0.5, 1.5, shape)
    else:
      continue
    variable.assign(value.astype(variable.dtype.as_numpy_dtype))


def write(name: str, out: pathlib.Path) -> None:
  """Builds, exports and records one network under out/name."""
  module, function = NETWORKS[name]
  seed = zlib.crc32(name.encode())
  tf.random.set_seed(seed)
  np.random.seed(seed % 2**32)
  import keras  # pylint: disable=import-outside-toplevel
  keras.utils.set_random_seed(seed % 2**31)
  built = getattr(importlib.import_module(module), function)()
  randomize(built.variables, seed + 1)
  target = out / name
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  holder = tf.Module()
  holder.weights = list(built.variables)
  specs = [tf.TensorSpec(s.shape, s.dtype, n) for n, s in built.specs.items()]
  names = list(built.specs)

  @tf.function(input_signature=specs)
  def serve(*tensors):
    result = built.call(**dict(zip(names, tensors)))
    return result if isinstance(result, dict) else {"output": result}

  holder.serve = serve
  tf.saved_model.save(holder, str(target / "saved_model"),
                      signatures={"serving_default": serve})
  recording.record(
      target, built.inputs, np.random.default_rng(seed + 2),
      keras=keras.__version__,
      parameters=int(sum(np.prod(v.shape) for v in holder.weights)))


if __name__ == "__main__":
  sys.exit(recording.main(__doc__, NETWORKS, write))
