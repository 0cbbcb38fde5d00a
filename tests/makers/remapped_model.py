#!/usr/bin/env python3
"""Writes a frozen graph that TensorFlow's own remapper has been over.

  tests/makers/remapped_model.py --out DIR

The graph has _FusedConv2D, _FusedMatMul and their kin as TensorFlow makes them
with oneDNN on; the outputs are those of the graph before, with oneDNN off.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys

REMAP = "--remap"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1" if REMAP in sys.argv else "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.grappler import tf_optimizer

tf1 = tf.compat.v1


class Network:
  """Each contraction followed by something that the remapper puts into it."""

  def __init__(self) -> None:
    self.rng = np.random.default_rng(11)

  def _weights(self, *shape: int) -> tf.Tensor:
    size = np.sqrt(2.0 / np.prod(shape[:-1]))
    return tf.constant(self.rng.normal(0, size, shape).astype(np.float32))

  def _vector(self, n: int, low: float, high: float) -> tf.Tensor:
    return tf.constant(self.rng.uniform(low, high, n).astype(np.float32))

  def conv(self, x: tf.Tensor, channels: int, bias: bool = True) -> tf.Tensor:
    y = tf1.nn.conv2d(x, self._weights(3, 3, x.shape[-1], channels),
                      strides=[1, 1, 1, 1], padding="SAME")
    return tf.nn.bias_add(y, self._vector(channels, -.3, .3)) if bias else y

  def batch_norm(self, x: tf.Tensor) -> tf.Tensor:
    n = x.shape[-1]
    return tf1.nn.fused_batch_norm(
        x, self._vector(n, .8, 1.2), self._vector(n, -.2, .2),
        self._vector(n, -.2, .2), self._vector(n, .5, 1.5), epsilon=1e-3,
        is_training=False)[0]

  def dense(self, x: tf.Tensor, n: int) -> tf.Tensor:
    y = tf.matmul(x, self._weights(x.shape[-1], n))
    return tf.nn.bias_add(y, self._vector(n, -.3, .3))

  def build(self) -> None:
    x = tf1.placeholder(tf.float32, [None, 9, 8, 3], "x")
    y = tf.nn.relu(self.conv(x, 6))
    y = tf.nn.relu6(self.conv(y, 6))
    y = tf.nn.elu(self.conv(y, 6))
    y = tf.nn.leaky_relu(self.conv(y, 6), alpha=0.3)
    y = tf.nn.relu(self.batch_norm(self.conv(y, 6, bias=False)))
    y = self.batch_norm(self.conv(y, 6, bias=False))
    skip = y
    y = tf.nn.relu(self.conv(y, 6) + skip)
    skip = y
    y = tf.add(self.conv(y, 6), skip)
    y = tf.nn.sigmoid(self.conv(y, 6))
    y = tf.nn.tanh(self.conv(y, 6))
    z = self.conv(y, 6)
    y = z * tf.nn.sigmoid(z)
    y = tf.nn.depthwise_conv2d(y, self._weights(3, 3, 6, 1), [1, 2, 2, 1],
                               "SAME")
    y = tf.nn.relu6(tf.nn.bias_add(y, self._vector(6, -.3, .3)))
    y = tf.nn.relu(self.batch_norm(y))
    y = tf.reshape(y, [-1, 5 * 4 * 6])
    for activation in (tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.tanh,
                       tf.nn.sigmoid):
      y = activation(self.dense(y, 8))
    y = tf.nn.leaky_relu(self.dense(y, 8), alpha=0.1)
    y = tf.nn.gelu(self.dense(y, 8), approximate=False)
    y = tf.nn.gelu(self.dense(y, 8), approximate=True)
    tf.identity(self.dense(y, 5), "logits")


def remap(graph: tf.Graph, target: pathlib.Path) -> None:
  """Writes the graph as the remapper leaves it."""
  options = rewriter_config_pb2.RewriterConfig(
      meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE,
      min_graph_nodes=-1)
  options.optimizers.append("remap")
  meta = tf1.train.export_meta_graph(graph=graph)
  meta.collection_def["train_op"].node_list.value.append("logits")
  config = config_pb2.ConfigProto()
  config.graph_options.rewrite_options.CopyFrom(options)
  result = tf_optimizer.OptimizeGraph(config, meta)
  for node in result.node:
    node.device = ""
  tf.io.write_graph(result, str(target), "graph.pbtxt", as_text=True)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  parser.add_argument(REMAP, action="store_true", help=argparse.SUPPRESS)
  args = parser.parse_args()
  target = args.out / "remapped"
  target.mkdir(parents=True, exist_ok=True)
  with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
    Network().build()
    if args.remap:
      remap(graph, target)
      return 0
    x = np.random.default_rng(12).normal(0, 1, (2, 9, 8, 3)).astype("f4")
    with tf1.Session() as session:
      logits = session.run("logits:0", {"x:0": x})
  np.savez_compressed(target / "inputs.npz", **{"x:0": x})
  np.savez_compressed(target / "outputs.npz", **{"logits:0": logits})
  (target / "model.json").write_text(json.dumps({
      "tensorflow": tf.__version__, "numpy": np.__version__,
      "TF_ENABLE_ONEDNN_OPTS": "0", "kind": "graphdef",
      "model": "graph.pbtxt"}, indent=2) + "\n")
  subprocess.run([sys.executable, __file__, "--out", str(args.out), REMAP],
                 check=True)
  return 0


if __name__ == "__main__":
  sys.exit(main())
