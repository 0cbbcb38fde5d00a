#!/usr/bin/env python3
"""What callers may feed, in TensorFlow's session and in `tenon run`.

  tests/feeding_in_tensorflow.py [--tenon build/bin/tenon]

Feeds a placeholder with a default, a placeholder that the fetched tensor does
not need, and tensors in the middle of the graph; compares the results.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parent.parent


def make_graph() -> tf.Graph:
  """A layer with a scale that has a default, and a second output."""
  v1 = tf.compat.v1
  graph = tf.Graph()
  with graph.as_default():
    rng = np.random.default_rng(0)
    x = v1.placeholder(tf.float32, [None, 4], "x")
    scale = v1.placeholder_with_default(tf.constant(3.0), [], "scale")
    shape = v1.placeholder_with_default(tf.constant([2, 3]), [None], "shape")
    other = v1.placeholder(tf.float32, [], "other")
    weights = tf.constant(rng.standard_normal((4, 6)), tf.float32)
    product = tf.matmul(x, weights, name="product")
    hidden = tf.nn.relu(product * scale, name="hidden")
    parts = tf.split(hidden, 2, axis=1, name="parts")
    tf.add(parts[0], parts[1] * 2.0, name="y")
    tf.reshape(tf.reduce_sum(hidden, 0), shape, name="z")
    tf.add(other, 1.0, name="w")
  return graph


def cases() -> list[tuple[str, dict[str, np.ndarray]]]:
  """The fetched tensor and the feeds."""
  rng = np.random.default_rng(1)

  def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)

  x = floats(5, 4)
  one = np.float32(0.5)
  return [
      ("y:0", {"x:0": x}),
      ("y:0", {"x:0": x, "scale:0": one}),
      ("y:0", {"x:0": x, "other:0": one}),
      ("z:0", {"x:0": x}),
      ("z:0", {"x:0": x, "shape:0": np.array([6, 1], np.int32)}),
      ("z:0", {"x:0": x, "shape:0": np.array([6], np.int32), "scale:0": one}),
      ("y:0", {"product:0": floats(3, 6)}),
      ("y:0", {"product:0": floats(3, 6), "x:0": x}),
      ("y:0", {"hidden:0": floats(2, 6), "scale:0": one}),
      ("y:0", {"parts:1": floats(5, 3), "x:0": x}),
      ("y:0", {"parts:0": floats(2, 3), "parts:1": floats(2, 3)}),
      ("w:0", {"other:0": one}),
  ]


def run_tenon(tenon: str, model: pathlib.Path, fetch: str,
              feeds: dict[str, np.ndarray]) -> np.ndarray:
  inputs, outputs = model.parent / "in.npz", model.parent / "out.npz"
  np.savez(inputs, **feeds)
  done = subprocess.run([tenon, "run", model, "--inputs", inputs, "--outputs",
                         outputs, "--fetch", fetch], capture_output=True,
                        text=True, check=False,
                        env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"})
  if done.returncode:
    sys.exit(f"{fetch} of {sorted(feeds)}: {done.stderr}")
  with np.load(outputs) as arrays:
    return arrays[fetch]


def main() -> None:
  parser = argparse.ArgumentParser()
  parser.add_argument("--tenon", default=ROOT / "build" / "bin" / "tenon")
  tenon = parser.parse_args().tenon
  graph = make_graph()
  with tempfile.TemporaryDirectory() as scratch:
    model = pathlib.Path(scratch) / "graph.pb"
    model.write_bytes(graph.as_graph_def().SerializeToString())
    with tf.compat.v1.Session(graph=graph) as session:
      for fetch, feeds in cases():
        wanted = session.run(fetch, feeds)
        got = run_tenon(tenon, model, fetch, feeds)
        np.testing.assert_allclose(got, wanted, 1e-5, 1e-5,
                                   err_msg=f"{fetch} of {sorted(feeds)}")
        assert got.shape == wanted.shape, (got.shape, wanted.shape)
  print(f"{len(cases())} passed, 0 failed")


if __name__ == "__main__":
  main()
