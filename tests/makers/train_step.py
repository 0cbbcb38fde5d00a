#!/usr/bin/env python3
"""Writes SavedModels of which each run is a step that changes variables.

  tests/makers/train_step.py --out tests/models/steps [NAME…]

mlp, conv and depthwise are training steps: (images, labels -> loss) with the
gradients of a small network and SGD with momentum on resource variables.
tests/makers/stepping.py tells the files.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Callable

import stepping  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf

STEPS = 50
BATCHES = 5
CLASSES = 4


class Training(tf.Module):
  """A network's variables, and one step of SGD with momentum on its loss."""

  def __init__(self, batch: int, size: int, channels: int) -> None:
    super().__init__()
    self.rng = np.random.default_rng(11)
    self.weights: list[tf.Variable] = []
    self.momenta: list[tf.Variable] = []
    self.statistics: list[tf.Variable] = []
    self.count = tf.Variable(0, dtype=tf.int64, trainable=False, name="count")
    self.rate = tf.Variable(0.004, trainable=False, name="rate")
    self.build(channels, size)
    self.step = tf.function(self._step, input_signature=[
        tf.TensorSpec([None, size, size, channels], tf.float32, "images"),
        tf.TensorSpec([None], tf.int32, "labels")])

  def build(self, channels: int, size: int) -> None:
    """Makes the variables, in the order in which `logits` takes them."""
    raise NotImplementedError

  def logits(self, images: tf.Tensor) -> tf.Tensor:
    raise NotImplementedError

  def weight(self, *shape: int, value: float | None = None) -> tf.Variable:
    if value is None:
      initial = self.rng.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape)
    else:
      initial = np.full(shape, value)
    initial = initial.astype(np.float32)
    name = f"w{len(self.weights)}"
    self.weights.append(tf.Variable(initial, name=name))
    self.momenta.append(tf.Variable(np.zeros_like(initial), trainable=False,
                                    name=f"{name}/momentum"))
    return self.weights[-1]

  def norm(self, channels: int) -> Callable[[tf.Tensor], tf.Tensor]:
    """Batch norm in training mode; keeps moving statistics."""
    gamma = self.weight(channels, value=1.0)
    beta = self.weight(channels, value=0.0)
    mean = tf.Variable(np.zeros(channels, np.float32), trainable=False)
    variance = tf.Variable(np.ones(channels, np.float32), trainable=False)
    self.statistics += [mean, variance]

    def apply(x: tf.Tensor) -> tf.Tensor:
      y, batch_mean, batch_variance, *_ = tf.raw_ops.FusedBatchNormV3(
          x=x, scale=gamma, offset=beta, mean=[], variance=[], epsilon=1e-3,
          is_training=True)
      mean.assign_sub((mean - batch_mean) * 0.1)
      variance.assign_sub((variance - batch_variance) * 0.1)
      return y

    return apply

  def _step(self, images: tf.Tensor, labels: tf.Tensor) -> dict[str, tf.Tensor]:
    with tf.GradientTape() as tape:
      logits = self.logits(images)
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
          labels=labels, logits=logits))
    gradients = tape.gradient(loss, self.weights)
    for weight, momentum, gradient in zip(self.weights, self.momenta, gradients):
      tf.raw_ops.ResourceApplyMomentum(
          var=weight.handle, accum=momentum.handle, lr=self.rate, grad=gradient,
          momentum=0.9)
    count = self.count.assign_add(1)
    hits = tf.equal(tf.argmax(logits, 1, tf.int32), labels)
    return {"loss": loss, "count": tf.identity(count),
            "accuracy": tf.reduce_mean(tf.cast(hits, tf.float32))}


class Mlp(Training):
  """Dense, ReLU, dense."""

  def build(self, channels: int, size: int) -> None:
    self.hidden = self.weight(size * size * channels, 16)
    self.head = self.weight(16, CLASSES)

  def logits(self, images: tf.Tensor) -> tf.Tensor:
    y = tf.reshape(images, [-1, self.hidden.shape[0]])
    return tf.matmul(tf.nn.relu(tf.matmul(y, self.hidden)), self.head)


class Conv(Training):
  """Convolution, batch norm, ReLU, max pool, convolution, ReLU, dense."""

  def build(self, channels: int, size: int) -> None:
    self.first = self.weight(3, 3, channels, 6)
    self.first_norm = self.norm(6)
    self.second = self.weight(3, 3, 6, 8)
    self.second_bias = self.weight(8, value=0.0)
    self.head = self.weight((size // 2) ** 2 * 8, CLASSES)
    self.bias = self.weight(CLASSES, value=0.0)

  def logits(self, images: tf.Tensor) -> tf.Tensor:
    y = tf.nn.conv2d(images, self.first, 1, "SAME")
    y = tf.nn.relu(self.first_norm(y))
    y = tf.nn.max_pool2d(y, 2, 2, "VALID")
    y = tf.nn.bias_add(tf.nn.conv2d(y, self.second, 1, "SAME"), self.second_bias)
    y = tf.reshape(tf.nn.relu(y), [-1, self.head.shape[0]])
    return tf.nn.bias_add(tf.matmul(y, self.head), self.bias)


class Depthwise(Training):
  """Convolution, depthwise convolution, batch norm, average pool, dense."""

  def build(self, channels: int, size: int) -> None:
    self.first = self.weight(3, 3, channels, 6)
    self.depthwise = self.weight(3, 3, 6, 2)
    self.depthwise_norm = self.norm(12)
    self.pointwise = self.weight(1, 1, 12, 8)
    self.head = self.weight((size // 2) ** 2 * 8, CLASSES)
    self.bias = self.weight(CLASSES, value=0.0)

  def logits(self, images: tf.Tensor) -> tf.Tensor:
    y = tf.nn.conv2d(images, self.first, 1, "SAME")
    y = tf.nn.depthwise_conv2d(y, self.depthwise, [1, 1, 1, 1], "SAME")
    y = tf.nn.relu(self.depthwise_norm(y))
    y = tf.nn.avg_pool2d(y, 2, 2, "VALID")
    y = tf.nn.relu6(tf.nn.conv2d(y, self.pointwise, 1, "SAME"))
    y = tf.reshape(y, [-1, self.head.shape[0]])
    return tf.nn.bias_add(tf.matmul(y, self.head), self.bias)


def batches(batch: int, size: int, channels: int) -> stepping.Arrays:
  """Noisy images of fixed class patterns."""
  rng = np.random.default_rng(12)
  patterns = rng.normal(0, 1, (CLASSES, size, size, channels))
  labels = rng.integers(0, CLASSES, (BATCHES, batch)).astype(np.int32)
  noise = rng.normal(0, 3, (BATCHES, batch, size, size, channels))
  return {"images": (patterns[labels] + noise).astype(np.float32),
          "labels": labels}


def training(out: pathlib.Path, name: str, network: type[Training]) -> None:
  target = stepping.fresh(out / name)
  net = network(8, 8, 2)
  tf.saved_model.save(net, str(target / "saved_model"),
                      signatures={"serving_default": net.step})
  loss = stepping.write_steps(target, batches(8, 8, 2), STEPS)["loss"]
  print(f"{name}: loss {loss[0]:.4f} … {loss[-1]:.4f}")
  if not 1e-2 < loss[-1] < loss[0] / 2:
    raise SystemExit(f"{name}: does not learn")
  stepping.note(target)


NETWORKS: dict[str, type[Training]] = {
    "mlp": Mlp, "conv": Conv, "depthwise": Depthwise}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  parser.add_argument("names", nargs="*", choices=[[], *NETWORKS])
  args = parser.parse_args()
  for name, network in NETWORKS.items():
    if not args.names or name in args.names:
      training(args.out, name, network)
  return 0


if __name__ == "__main__":
  sys.exit(main())
