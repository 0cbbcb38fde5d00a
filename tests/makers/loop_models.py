#!/usr/bin/env python3
"""Writes small models whose time goes into loops, and measures TensorFlow on them.

  tests/makers/loop_models.py --out DIRECTORY [NAME…]

Each DIRECTORY/NAME holds saved_model, inputs.npz and outputs.npz, as
tests/models/README.md tells, and tensorflow.json with TensorFlow's time.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from typing import Callable

import models  # sets the environment before TensorFlow is imported
import keras
import numpy as np
import tensorflow as tf

RNG = np.random.default_rng(47)
Case = tuple[tf.Module, dict[str, np.ndarray]]


def floats(*shape: int) -> np.ndarray:
  return RNG.normal(0, 1, shape).astype(np.float32)


def module(function: Callable[..., dict[str, tf.Tensor]], *specs: tf.TensorSpec,
           **state: object) -> tf.Module:
  made = tf.Module()
  for name, value in state.items():
    setattr(made, name, value)
  made.run = tf.function(function, input_signature=specs)
  return made


def spec(name: str, dtype: tf.DType, *shape: int | None) -> tf.TensorSpec:
  return tf.TensorSpec(shape, dtype, name)


def counting() -> Case:
  """An empty loop."""
  def run(n: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"i": tf.while_loop(lambda i: i < n, lambda i: (i + 1,), (0,))[0]}
  return module(run, spec("n", tf.int32)), {"n": np.int32(1000)}


def small() -> Case:
  """A recurrence with a small product."""
  w = tf.Variable(0.2 * floats(16, 16))
  def run(x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"y": tf.while_loop(lambda i, _: i < n,
                               lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + x)),
                               (0, x))[1]}
  return (module(run, spec("x", tf.float32, None, 16), spec("n", tf.int32), w=w),
          {"x": floats(1, 16), "n": np.int32(1000)})


def cache(length: int, stacked: bool = False) -> Case:
  """64 steps of attention over a cache of `length` rows, of 2 layers of 4 heads."""
  layers, heads, size = 2, 4, 32
  width = heads * size
  weights = [[tf.Variable(floats(width, width) / width ** 0.5) for _ in range(4)]
             for _ in range(layers)]

  def attend(x: tf.Tensor, kv: tf.Tensor, i: tf.Tensor, layer: int) -> tuple[tf.Tensor, tf.Tensor]:
    q, k, v = (tf.reshape(tf.matmul(x, weights[layer][j]), [1, heads, size]) for j in range(3))
    kv = tf.tensor_scatter_nd_update(kv, [[0, i], [1, i]], tf.concat([k, v], 0))
    scores = tf.einsum("bhd,thd->bht", q, kv[0]) / size ** 0.5
    mask = tf.where(tf.range(length) <= i, 0.0, -1e9)
    out = tf.einsum("bht,thd->bhd", tf.nn.softmax(scores + mask), kv[1])
    return tf.tanh(x + tf.matmul(tf.reshape(out, [1, width]), weights[layer][3])), kv

  def run(x: tf.Tensor) -> dict[str, tf.Tensor]:
    def separate(i: tf.Tensor, h: tf.Tensor, *kvs: tf.Tensor) -> tuple[tf.Tensor, ...]:
      changed = []
      for layer, kv in enumerate(kvs):
        h, kv = attend(h, kv, i, layer)
        changed.append(kv)
      return i + 1, h, *changed

    def together(i: tf.Tensor, h: tf.Tensor, kvs: tf.Tensor) -> tuple[tf.Tensor, ...]:
      changed = []
      for layer in range(layers):
        h, kv = attend(h, kvs[layer], i, layer)
        changed.append(kv)
      return i + 1, h, tf.stack(changed)

    shape = [2, length, heads, size]
    if stacked:
      first = (0, x, tf.zeros([layers] + shape))
      return {"y": tf.while_loop(lambda i, *_: i < 64, together, first)[1]}
    first = (0, x, *(tf.zeros(shape) for _ in range(layers)))
    return {"y": tf.while_loop(lambda i, *_: i < 64, separate, first)[1]}

  return module(run, spec("x", tf.float32, 1, width), weights=weights), {"x": floats(1, width)}


def grow() -> Case:
  """A cache that grows by concatenation."""
  w = tf.Variable(floats(32, 32) / 6)
  def run(x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    def body(i: tf.Tensor, h: tf.Tensor, kv: tf.Tensor) -> tuple[tf.Tensor, ...]:
      kv = tf.concat([kv, tf.matmul(h, w)], 0)
      scores = tf.nn.softmax(tf.matmul(h, kv, transpose_b=True))
      return i + 1, tf.tanh(h + tf.matmul(scores, kv)), kv
    return {"y": tf.while_loop(
        lambda i, *_: i < n, body, (0, x, x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([1, 32]),
                          tf.TensorShape([None, 32])))[1]}
  return (module(run, spec("x", tf.float32, 1, 32), spec("n", tf.int32), w=w),
          {"x": floats(1, 32), "n": np.int32(300)})


def nms() -> Case:
  """Suppression as a detector's serving signature does it."""
  def run(boxes: tf.Tensor, scores: tf.Tensor) -> dict[str, tf.Tensor]:
    indices, valid = tf.image.non_max_suppression_padded(
        boxes, scores, 100, iou_threshold=0.5, score_threshold=0.1, pad_to_max_output_size=True,
        sorted_input=False, canonicalized_coordinates=True, tile_size=512)
    return {"indices": indices, "valid": valid}
  corner = RNG.random((1, 1917, 2)).astype(np.float32)
  size = 0.2 * RNG.random((1, 1917, 2)).astype(np.float32)
  return (module(run, spec("boxes", tf.float32, 1, None, 4), spec("scores", tf.float32, 1, None)),
          {"boxes": np.concatenate([corner, corner + size], -1),
           "scores": RNG.random((1, 1917)).astype(np.float32)})


def bilstm() -> Case:
  inputs = keras.Input((64, 32), batch_size=1, name="x")
  model = keras.Model(inputs, keras.layers.Bidirectional(
      keras.layers.LSTM(32, return_sequences=True))(inputs))
  return (module(lambda x: {"y": model(x)}, spec("x", tf.float32, 1, 64, 32), model=model),
          {"x": floats(1, 64, 32)})


MAKERS: dict[str, Callable[[], Case]] = {
    "counting": counting, "small": small, "grow": grow, "nms": nms, "bilstm": bilstm,
    **{f"cache_{n}": lambda n=n: cache(n) for n in (64, 256, 1024, 2048)},
    **{f"stacked_{n}": lambda n=n: cache(n, True) for n in (64, 1024)},
}


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--out", type=pathlib.Path, required=True)
  parser.add_argument("names", nargs="*", metavar="NAME")
  arguments = parser.parse_args()
  for name in arguments.names or MAKERS:
    made, inputs = MAKERS[name]()
    target = arguments.out / name
    target.mkdir(parents=True, exist_ok=True)
    tf.saved_model.save(made, str(target / "saved_model"), signatures=made.run)
    tensors = {k: tf.constant(v) for k, v in inputs.items()}
    outputs = made.run(**tensors)
    times = []
    for _ in range(20):
      start = time.perf_counter()
      made.run(**tensors)
      times.append(time.perf_counter() - start)
    np.savez_compressed(target / "inputs.npz", **inputs)
    np.savez_compressed(target / "outputs.npz", **{k: v.numpy() for k, v in outputs.items()})
    record = {**models.versions(), "kind": "saved_model", "model": "saved_model"}
    (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")
    (target / "tensorflow.json").write_text(json.dumps({"ms": 1e3 * min(times)}) + "\n")
    print(f"{name}: TensorFlow {1e3 * min(times):.3f} ms", flush=True)


if __name__ == "__main__":
  main()
