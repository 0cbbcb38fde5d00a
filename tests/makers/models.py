#!/usr/bin/env python3
"""Writes the seven networks as SavedModels with TensorFlow's outputs beside.

  tests/makers/models.py --out DIR [--small] [NAME ...]

Each DIR/NAME holds saved_model/ (Keras 3 `model.export`), pairs of
inputs*.npz and outputs*.npz (keys: the signature's input and output names):
no suffix is batch 1, `_b2` batch 2, `_odd` another size; and model.json with
versions. Outputs come from TensorFlow with oneDNN off.

Weights are seeded. Biases and batch-norm statistics are random and non-zero:
the zeros of an untrained model are folded away and leave another graph.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import sys
import zlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

# pylint: disable=wrong-import-position
import keras
import numpy as np
import tensorflow as tf

from architectures import ARCHITECTURES, Architecture, Arrays

SEED = 20


def _fan_in(shape: tuple[int, ...], depthwise: bool) -> int:
  if depthwise:
    return int(np.prod(shape[:2]))
  return int(np.prod(shape[:-1]))


def randomize(model: keras.Model, seed: int) -> None:
  """Sets every weight from `seed` so that signals neither die nor explode."""
  rng = np.random.default_rng(seed)
  for layer in _leaves(model):
    for variable in layer.weights:
      shape = tuple(variable.shape)
      kind = variable.path.split("/")[-1]
      if kind in ("gamma",):
        value = rng.uniform(0.8, 1.2, shape)
      elif kind == "moving_variance":
        value = rng.uniform(0.5, 1.5, shape)
      elif kind in ("beta", "moving_mean", "bias"):
        value = rng.normal(0, 0.1, shape)
        value += np.where(value < 0, -0.01, 0.01)  # never zero
      elif kind == "embeddings":
        value = rng.normal(0, 1, shape)
      elif kind == "kernel":
        depthwise = isinstance(layer, keras.layers.DepthwiseConv2D)
        gain = 2.0 if isinstance(
            layer, (keras.layers.Conv2D, keras.layers.DepthwiseConv2D)) else 1.0
        if isinstance(layer, keras.layers.EinsumDense):
          # Query, key and value: [hidden, heads, size]; output:
          # [heads, size, hidden].
          hidden = shape[-1] if "output" in variable.path else shape[0]
          fan = hidden
        else:
          fan = _fan_in(shape, depthwise)
        value = rng.normal(0, np.sqrt(gain / fan), shape)
      else:
        continue  # constants such as Normalization's mean
      variable.assign(value.astype(np.float32))


def _leaves(model: keras.Model) -> list[keras.layers.Layer]:
  """Layers that own weights directly, in a fixed order."""
  return [layer for layer in model._flatten_layers(include_self=False)
          if not layer._layers]


def _seed_of(name: str) -> int:
  return SEED + zlib.crc32(name.encode())


def settle(model: keras.Model, inputs: Arrays) -> None:
  """Rescales kernels that feed a batch norm to the scale it normalizes.

  A trained batch norm's statistics match its input. Here statistics are drawn
  about mean 0 and variance 1, so each convolution is scaled to give that.
  """
  feeds: list[tuple[keras.layers.Layer, keras.layers.Layer]] = []
  for layer in model.layers:
    if isinstance(layer, keras.layers.BatchNormalization):
      source = layer.input._keras_history.operation
      if isinstance(source, (keras.layers.Conv2D,
                             keras.layers.DepthwiseConv2D)):
        feeds.append((source, layer))
  for source, _ in feeds:
    probe = keras.Model(model.inputs, source.output)
    deviation = float(np.std(probe(inputs, training=False)))
    source.kernel.assign(source.kernel / max(deviation, 1e-3))


def check_alive(name: str, outputs: list[np.ndarray]) -> None:
  """Fails unless outputs are finite, sane in size, and differ by example."""
  values = np.concatenate([o.reshape(o.shape[0], -1) for o in outputs])
  if not np.isfinite(values).all():
    raise SystemExit(f"{name}: an output is not finite")
  largest = np.abs(values).max()
  across = values.std(axis=0).mean() / max(np.abs(values).mean(), 1e-12)
  print(f"{name}: |output| <= {largest:.3g}, varies by {across:.1%} "
        "over inputs", flush=True)
  if not 1e-2 < largest < 1e3:
    raise SystemExit(f"{name}: outputs have an absurd scale, {largest:.3g}")
  if across < 0.02:
    raise SystemExit(f"{name}: outputs hardly depend on inputs ({across:.2%})")


def run_signature(path: pathlib.Path, inputs: Arrays,
                  signature: str = "serving_default") -> Arrays:
  """What TensorFlow gives for a SavedModel's signature."""
  function = tf.saved_model.load(str(path)).signatures[signature]
  result = function(**{k: tf.constant(v) for k, v in inputs.items()})
  return {k: v.numpy() for k, v in result.items()}


def versions() -> dict[str, str]:
  return {"tensorflow": tf.__version__, "keras": keras.__version__,
          "numpy": np.__version__,
          "TF_ENABLE_ONEDNN_OPTS": os.environ["TF_ENABLE_ONEDNN_OPTS"]}


def build(name: str, architecture: Architecture, small: bool) -> keras.Model:
  keras.backend.clear_session()  # layer names do not depend on what came before
  keras.utils.set_random_seed(SEED)
  model = architecture.build(small)
  randomize(model, _seed_of(name))
  if "image" in [x.name for x in model.inputs]:
    rng = np.random.default_rng(_seed_of(name) + 1)
    # Statistics do not need the full resolution.
    size = architecture.size[1] if small else tuple(
        s // 2 for s in architecture.size[0])
    settle(model, architecture.inputs(rng, 1, size, small))
  return model


def write(name: str, architecture: Architecture, out: pathlib.Path,
          small: bool) -> None:
  """Builds, exports and records one network under out/name."""
  model = build(name, architecture, small)
  target = out / name
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  model.export(str(target / "saved_model"), verbose=False)

  rng = np.random.default_rng(_seed_of(name) + 2)
  size = architecture.size[small]
  cases = {"": (1, size), "_b2": (2, size)}
  if architecture.odd_size:
    cases["_odd"] = (1, architecture.odd_size[small])
  function = tf.saved_model.load(str(target / "saved_model"))
  function = function.signatures["serving_default"]
  outputs = []
  for suffix, (batch, case_size) in cases.items():
    inputs = architecture.inputs(rng, batch, case_size, small)
    result = function(**{k: tf.constant(v) for k, v in inputs.items()})
    result = {k: v.numpy() for k, v in result.items()}
    np.savez_compressed(target / f"inputs{suffix}.npz", **inputs)
    np.savez_compressed(target / f"outputs{suffix}.npz", **result)
    outputs += list(result.values())
  check_alive(name, outputs)
  record = {**versions(), "parameters": model.count_params(), "small": small}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("names", nargs="*", metavar="NAME",
                      help="default: " + " ".join(ARCHITECTURES))
  parser.add_argument("--out", required=True, type=pathlib.Path)
  parser.add_argument("--small", action="store_true",
                      help="narrow, shallow versions of the same structure")
  args = parser.parse_args()
  unknown = set(args.names) - set(ARCHITECTURES)
  if unknown:
    parser.error(f"unknown model: {', '.join(sorted(unknown))}; "
                 f"known: {', '.join(ARCHITECTURES)}")
  for name in args.names or ARCHITECTURES:
    write(name, ARCHITECTURES[name], args.out, args.small)
  return 0


if __name__ == "__main__":
  sys.exit(main())
