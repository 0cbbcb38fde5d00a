#!/usr/bin/env python3
"""Writes control_flow/, a SavedModel for the loader's tests, beside this file.

Loops and branches that capture variables; bfloat16, string and int8 variables;
a signature that changes a variable.
"""

from __future__ import annotations

import os
import pathlib
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf


class ControlFlow(tf.Module):

  def __init__(self) -> None:
    super().__init__()
    kernel = np.arange(6, dtype=np.float32).reshape(3, 2)
    self.kernel = tf.Variable(kernel, name="kernel")
    self.bias = tf.Variable([0.5, -0.5], name="bias")
    self.half = tf.Variable(tf.cast([1.5, -2.0], tf.bfloat16), name="half")
    self.words = tf.Variable(["abc", "", "x" * 300], name="words")
    self.small = tf.Variable(np.array([3, -4], np.int8), name="small")

  @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x"),
                                tf.TensorSpec([], tf.int32, "n")])
  def run(self, x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    def step(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      return i + 1, tf.nn.relu(y + tf.matmul(x, self.kernel) + self.bias)

    _, y = tf.while_loop(lambda i, _: i < n, step,
                         [0, tf.zeros([tf.shape(x)[0], 2])])
    y = tf.cond(n > 2, lambda: y * self.bias,
                lambda: y - tf.cast(self.half, tf.float32))
    z = tf.switch_case(n, [lambda: y, lambda: y + self.bias])
    return {"y": y, "z": z, "words": tf.gather(self.words, [2, 0]),
            "small": tf.identity(self.small)}

  @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, "x")])
  def update(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    self.bias.assign_add(x)
    return {"bias": self.bias.read_value()}


if __name__ == "__main__":
  target = pathlib.Path(__file__).parent / "control_flow"
  shutil.rmtree(target, ignore_errors=True)
  net = ControlFlow()
  tf.saved_model.save(net, str(target), signatures={
      "serving_default": net.run, "update": net.update})
  shutil.rmtree(target / "assets", ignore_errors=True)
