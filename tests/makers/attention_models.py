#!/usr/bin/env python3
"""Attention as people write it, in one SavedModel with a signature for each form.

    tests/makers/attention_models.py --out tests/models

Plain TensorFlow, with the layouts, scales and masks of well-known models, and Keras layers.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil

import models  # sets the environment before TensorFlow is imported
import keras
import numpy as np
import tensorflow as tf

HEADS, SIZE = 3, 8
WIDTH = HEADS * SIZE
TOKENS = 19  # not a multiple of a vector


def swap(x: tf.Tensor) -> tf.Tensor:
  return tf.transpose(x, [0, 2, 1, 3])


class Forms(tf.Module):
  """Each method is a signature."""

  def __init__(self) -> None:
    super().__init__()
    rng = np.random.default_rng(1)
    self.joint = tf.Variable(
        rng.normal(0, WIDTH**-0.5, (WIDTH, 3 * WIDTH)).astype(np.float32))
    self.relative = tf.Variable(
        rng.normal(0, 1, (1, HEADS, TOKENS, TOKENS)).astype(np.float32))
    self.shifted = tf.constant(
        np.where(rng.random((2, TOKENS, TOKENS)) < 0.3, -100,
                 0).astype(np.float32))
    self.multi_head = keras.layers.MultiHeadAttention(HEADS, SIZE)
    self.grouped = keras.layers.GroupQueryAttention(SIZE, 4, 2)
    for layer in (self.multi_head, self.grouped):
      layer.build((None, None, WIDTH), (None, None, WIDTH))
      for v in layer.trainable_variables:
        v.assign(rng.normal(0, WIDTH**-0.5, v.shape))

  def parts(self, x: tf.Tensor) -> list[tf.Tensor]:
    """q, k and v as [batch, tokens, heads, size]."""
    batch, tokens = tf.shape(x)[0], tf.shape(x)[1]
    return [tf.reshape(part, [batch, tokens, HEADS, SIZE])
            for part in tf.split(tf.tensordot(x, self.joint, 1), 3, axis=-1)]

  def join(self, y: tf.Tensor) -> tf.Tensor:
    return tf.reshape(swap(y), [tf.shape(y)[0], -1, WIDTH])

  @tf.function(input_signature=[
      tf.TensorSpec([None, None, WIDTH], name="x"),
      tf.TensorSpec([None, None], name="mask")])
  def bert(self, x: tf.Tensor, mask: tf.Tensor) -> dict[str, tf.Tensor]:
    q, k, v = map(swap, self.parts(x))
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(SIZE))
    scores += (1 - mask[:, None, None, :]) * -1e9
    return {"y": self.join(tf.matmul(tf.nn.softmax(scores), v))}

  @tf.function(input_signature=[tf.TensorSpec([None, None, WIDTH], name="x")])
  def gpt2(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    q, k, v = map(swap, self.parts(x))
    scores = tf.matmul(q, k, transpose_b=True) * SIZE**-0.5
    n = tf.shape(x)[1]
    causal = tf.cast(tf.range(n)[:, None] >= tf.range(n), tf.float32)[None, None]
    scores = scores * causal - 1e4 * (1 - causal)
    return {"y": self.join(tf.matmul(tf.nn.softmax(scores + 1e-9), v))}

  @tf.function(input_signature=[tf.TensorSpec([None, None, WIDTH], name="x")])
  def causal(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    q, k, v = map(swap, self.parts(x))
    n = tf.shape(x)[1]
    visible = tf.range(n)[:, None] >= tf.range(n)
    scores = tf.matmul(q * SIZE**-0.5, k, transpose_b=True)
    scores = tf.where(visible, scores, -np.inf)
    return {"y": self.join(tf.matmul(tf.nn.softmax(scores), v))}

  @tf.function(input_signature=[tf.TensorSpec([None, TOKENS, WIDTH], name="x")])
  def t5(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    q, k, v = map(swap, self.parts(x))
    scores = tf.einsum("bnqd,bnkd->bnqk", q, k) + self.relative
    y = tf.matmul(tf.nn.softmax(scores, axis=-1), v)
    return {"y": self.join(y)}

  @tf.function(input_signature=[
      tf.TensorSpec([None, None, WIDTH], name="x"),
      tf.TensorSpec([None, None], name="hidden")])
  def whisper(self, x: tf.Tensor, hidden: tf.Tensor) -> dict[str, tf.Tensor]:
    batch, n = tf.shape(x)[0], tf.shape(x)[1]
    q, k, v = (tf.reshape(swap(part), [batch * HEADS, -1, SIZE])
               for part in self.parts(x))
    scores = tf.matmul(q * SIZE**-0.5, k, transpose_b=True)
    scores = tf.reshape(scores, [batch, HEADS, n, n])
    scores += hidden[:, None, None, :] * -1e9
    weights = tf.nn.softmax(tf.reshape(scores, [batch * HEADS, n, n]))
    y = tf.reshape(tf.matmul(weights, v), [batch, HEADS, n, SIZE])
    return {"y": self.join(y)}

  @tf.function(input_signature=[tf.TensorSpec([None, TOKENS, WIDTH], name="x")])
  def swin(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    joint = tf.reshape(tf.tensordot(x, self.joint, 1),
                       [-1, TOKENS, 3, HEADS, SIZE])
    q, k, v = tf.unstack(tf.transpose(joint, [2, 0, 3, 1, 4]))
    scores = tf.matmul(q * SIZE**-0.5, tf.transpose(k, [0, 1, 3, 2]))
    scores += self.relative
    scores = tf.reshape(scores, [-1, 2, HEADS, TOKENS, TOKENS])
    scores += self.shifted[None, :, None]
    scores = tf.reshape(scores, [-1, HEADS, TOKENS, TOKENS])
    y = tf.matmul(tf.nn.softmax(scores), v)
    return {"y": tf.reshape(swap(y), [-1, TOKENS, WIDTH])}

  @tf.function(input_signature=[
      tf.TensorSpec([None, 1, HEADS, SIZE], name="q"),
      tf.TensorSpec([None, HEADS, None, SIZE], name="keys"),
      tf.TensorSpec([None, HEADS, None, SIZE], name="values"),
      tf.TensorSpec([None, None], tf.bool, name="filled")])
  def decode(self, q: tf.Tensor, keys: tf.Tensor, values: tf.Tensor,
             filled: tf.Tensor) -> dict[str, tf.Tensor]:
    scores = tf.matmul(swap(q), keys, transpose_b=True) * SIZE**-0.5
    scores = tf.where(filled[:, None, None, :], scores, np.float32(-3e38))
    return {"y": swap(tf.matmul(tf.nn.softmax(scores), values))}

  @tf.function(input_signature=[tf.TensorSpec([None, None, WIDTH], name="x")])
  def keras_causal(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"y": self.multi_head(x, x, use_causal_mask=True)}

  @tf.function(input_signature=[tf.TensorSpec([None, None, WIDTH], name="x")])
  def keras_grouped(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"y": self.grouped(x, x, use_causal_mask=True)}

  @tf.function(input_signature=[
      tf.TensorSpec([None, None, HEADS, SIZE], name="x")])
  def keras_function(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"y": keras.ops.nn.dot_product_attention(x, x, x, is_causal=True)}


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--out", type=pathlib.Path, required=True)
  target = parser.parse_args().out / "attention_signatures"
  shutil.rmtree(target, ignore_errors=True)
  path = target / "saved_model"
  forms = Forms()
  names = ["bert", "gpt2", "causal", "t5", "whisper", "swin", "decode",
           "keras_causal", "keras_grouped", "keras_function"]
  tf.saved_model.save(forms, str(path), signatures={
      name: getattr(forms, name) for name in names})
  rng = np.random.default_rng(2)
  normal = lambda *shape: rng.normal(0, 1, shape).astype(np.float32)
  for name in names:
    inputs = {"x": normal(2, TOKENS, WIDTH)}
    if name == "bert":
      inputs["mask"] = (np.arange(TOKENS) < [[11], [TOKENS]]).astype(np.float32)
    if name == "whisper":
      inputs["hidden"] = (np.arange(TOKENS) > [[11], [3]]).astype(np.float32)
    if name == "keras_function":
      inputs = {"x": normal(2, TOKENS, HEADS, SIZE)}
    if name == "decode":
      inputs = {"q": normal(2, 1, HEADS, SIZE),
                "keys": normal(2, HEADS, 40, SIZE),
                "values": normal(2, HEADS, 40, SIZE),
                "filled": np.arange(40) < [[7], [33]]}
    outputs = models.run_signature(path, inputs, name)
    np.savez_compressed(target / f"inputs_{name}.npz", **inputs)
    np.savez_compressed(target / f"outputs_{name}.npz", **outputs)
  record = {**models.versions(), "kind": "saved_model", "model": "saved_model"}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
  main()
