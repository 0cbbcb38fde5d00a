#!/usr/bin/env python3
"""Writes tiny text generators: loops over a decoder with a cache.

  tests/makers/generation_models.py --out tests/models/generation [NAME…]

The decoder has one layer of attention. Prompts are ragged: `mask` tells which
tokens are given. The loop ends early once every sequence has the end token.
As control_models.py, whose functions it uses.
"""

from __future__ import annotations

import pathlib
import sys

import control_models as control  # sets the environment before TensorFlow is imported
import keras
from keras import ops
import numpy as np
import tensorflow as tf

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, END = 13, 8, 2, 1, 12, 1
HEAD = WIDTH // HEADS
spec = control.spec


def scaled(*shape: int) -> tf.Variable:
  return tf.Variable(0.7 * control.floats(*shape))


class Decoder(tf.Module):
  """GPT-2 in small: tokens at some positions and a cache to logits."""

  def __init__(self) -> None:
    super().__init__()
    self.tokens, self.positions = scaled(VOCABULARY, WIDTH), scaled(LENGTH, WIDTH)
    self.layers = [
        {"qkv": scaled(WIDTH, 3 * WIDTH), "out": scaled(WIDTH, WIDTH),
         "up": scaled(WIDTH, 2 * WIDTH), "down": scaled(2 * WIDTH, WIDTH),
         "bias": scaled(2 * WIDTH)} for _ in range(LAYERS)]

  @staticmethod
  def norm(x: tf.Tensor) -> tf.Tensor:
    mean = ops.mean(x, -1, keepdims=True)
    variance = ops.mean(ops.square(x - mean), -1, keepdims=True)
    return (x - mean) * ops.rsqrt(variance + 1e-5)

  def __call__(self, tokens, cache, index):
    """tokens [B, T] from position `index` on; cache [B, layers, 2, LENGTH, H, D]."""
    batch, count = ops.shape(tokens)[0], ops.shape(tokens)[1]
    where = index + ops.arange(count)
    x = ops.take(self.tokens, tokens, 0) + ops.take(self.positions, where, 0)
    seen = ops.arange(LENGTH)[None, :] <= where[:, None]
    for i, layer in enumerate(self.layers):
      qkv = ops.reshape(ops.matmul(self.norm(x), layer["qkv"]),
                        (batch, count, 3, HEADS, HEAD))
      q, new = qkv[:, :, 0], ops.transpose(qkv[:, :, 1:], (0, 2, 1, 3, 4))
      cache = ops.slice_update(cache, (0, i, 0, index, 0, 0), new[:, None])
      k, v = cache[:, i, 0], cache[:, i, 1]
      scores = ops.einsum("bthd,bshd->bhts", q, k) / np.sqrt(HEAD).astype(np.float32)
      weights = ops.softmax(ops.where(seen, scores, -1e9))
      mixed = ops.einsum("bhts,bshd->bthd", weights, v)
      x += ops.matmul(ops.reshape(mixed, (batch, count, WIDTH)), layer["out"])
      hidden = ops.gelu(ops.matmul(self.norm(x), layer["up"]) + layer["bias"])
      x += ops.matmul(hidden, layer["down"])
    return ops.matmul(self.norm(x), ops.transpose(self.tokens)), x, cache

  def empty(self, batch):
    return ops.zeros((batch, LAYERS, 2, LENGTH, HEADS, HEAD))


def pick(logits, how: str, step, seed):
  """The next token of each row."""
  if how == "greedy":
    return ops.cast(ops.argmax(logits, -1), "int32")
  if how == "gumbel":  # draws as softmax(logits / 0.9) has it
    uniform = tf.random.stateless_uniform(
        ops.shape(logits), tf.stack([seed, step]), np.finfo(np.float32).tiny, 1.0)
    noise = -ops.log(-ops.log(uniform))
    return ops.cast(ops.argmax(logits / 0.9 + noise, -1), "int32")
  if how == "top_k":
    values, tokens = ops.top_k(logits, k=4, sorted=False)
    probabilities = ops.softmax(values / 0.8)
  else:  # top_p
    values, tokens = ops.top_k(ops.softmax(logits), k=VOCABULARY)
    keep = ops.cumsum(values, -1) - values < 0.8
    probabilities = ops.where(keep, values, 0.0)
  drawn = tf.random.stateless_categorical(
      ops.log(probabilities), 1, tf.stack([seed, step]), dtype=tf.int32)
  return ops.take_along_axis(tokens, drawn, axis=-1)[:, 0]


class Sampler(tf.Module):
  """One token a step for each sequence."""

  def __init__(self, how: str) -> None:
    super().__init__()
    self.decoder, self.how = Decoder(), how

  @tf.function(input_signature=[
      spec("tokens", tf.int32, None, LENGTH), spec("mask", tf.bool, None, LENGTH),
      spec("seed", tf.int32)])
  def run(self, tokens, mask, seed) -> dict[str, tf.Tensor]:
    batch = ops.shape(tokens)[0]
    first = ops.min(ops.sum(ops.cast(mask, "int32"), -1))
    _, _, cache = self.decoder(tokens, self.decoder.empty(batch), 0)

    def more(tokens, cache, index):
      ended = ops.any(ops.logical_and(tokens == END, ops.logical_not(mask)), -1)
      return ops.logical_and(index < LENGTH, ops.logical_not(ops.all(ended)))

    def step(tokens, cache, index):
      last = ops.slice(tokens, (0, index - 1), (batch, 1))
      logits, _, cache = self.decoder(last, cache, index - 1)
      chosen = pick(logits[:, 0], self.how, index, seed)
      given = ops.slice(mask, (0, index), (batch, 1))[:, 0]
      chosen = ops.where(given, tokens[:, index], chosen)
      return ops.slice_update(tokens, (0, index), chosen[:, None]), cache, index + 1

    tokens, _, steps = ops.while_loop(more, step, (tokens, cache, first))
    return {"tokens": tokens, "steps": steps}


class Beam(tf.Module):
  """The most probable sequences of all that `WIDE` beams find."""

  WIDE = 3

  def __init__(self) -> None:
    super().__init__()
    self.decoder = Decoder()

  @tf.function(input_signature=[spec("tokens", tf.int32, None, None)])
  def run(self, tokens) -> dict[str, tf.Tensor]:
    batch, given = ops.shape(tokens)[0], ops.shape(tokens)[1]
    _, _, cache = self.decoder(tokens, self.decoder.empty(batch), 0)
    cache = ops.repeat(cache, self.WIDE, 0)
    beams = ops.repeat(ops.pad(tokens, ((0, 0), (0, LENGTH - given))), self.WIDE, 0)
    scores = ops.concatenate(
        [ops.zeros((batch, 1)), ops.full((batch, self.WIDE - 1), -1e9)], 1)

    def step(beams, scores, cache, index):
      last = ops.slice(beams, (0, index - 1), (batch * self.WIDE, 1))
      logits, _, cache = self.decoder(last, cache, index - 1)
      total = ops.reshape(ops.log_softmax(logits[:, 0]), (batch, self.WIDE, VOCABULARY))
      total = ops.reshape(total + scores[:, :, None], (batch, self.WIDE * VOCABULARY))
      scores, best = ops.top_k(total, k=self.WIDE)
      rows = best // VOCABULARY + ops.arange(batch)[:, None] * self.WIDE
      rows = ops.reshape(rows, (-1,))
      chosen = ops.reshape(best % VOCABULARY, (-1, 1))
      beams = ops.slice_update(ops.take(beams, rows, 0), (0, index), chosen)
      return beams, scores, ops.take(cache, rows, 0), index + 1

    beams, scores, _, _ = ops.while_loop(
        lambda *state: state[3] < LENGTH, step, (beams, scores, cache, given))
    return {"beams": ops.reshape(beams, (batch, self.WIDE, LENGTH)), "scores": scores}


class Contrastive(tf.Module):
  """Probable tokens whose states are unlike those of the tokens before."""

  K, ALPHA = 3, 0.4

  def __init__(self) -> None:
    super().__init__()
    self.decoder = Decoder()

  @tf.function(input_signature=[spec("tokens", tf.int32, None, None)])
  def run(self, tokens) -> dict[str, tf.Tensor]:
    batch, given = ops.shape(tokens)[0], ops.shape(tokens)[1]
    logits, x, cache = self.decoder(tokens, self.decoder.empty(batch), 0)
    states = ops.slice_update(ops.zeros((batch, LENGTH, WIDTH)), (0, 0, 0), x)
    tokens = ops.pad(tokens, ((0, 0), (0, LENGTH - given)))

    def unit(v):
      return v / ops.sqrt(ops.sum(v * v, -1, keepdims=True) + 1e-6)

    def step(tokens, states, cache, logits, index):
      likely, candidates = ops.top_k(ops.softmax(logits), k=self.K)
      wide = ops.repeat(cache, self.K, 0)
      flat = ops.reshape(candidates, (-1, 1))
      next_logits, x, wide = self.decoder(flat, wide, index)
      like = ops.einsum("bsd,bkd->bks", unit(states),
                        unit(ops.reshape(x, (batch, self.K, WIDTH))))
      like = ops.max(ops.where(ops.arange(LENGTH) < index, like, -1e9), -1)
      best = ops.argmax((1 - self.ALPHA) * likely - self.ALPHA * like, -1)
      rows = ops.cast(best, "int32") + ops.arange(batch) * self.K
      tokens = ops.slice_update(tokens, (0, index), ops.take(flat, rows, 0))
      states = ops.slice_update(states, (0, index, 0), ops.take(x, rows, 0))
      return (tokens, states, ops.take(wide, rows, 0),
              ops.take(next_logits, rows, 0)[:, 0], index + 1)

    tokens, *_ = ops.while_loop(
        lambda *state: state[-1] < LENGTH, step,
        (tokens, states, cache, logits[:, -1], given))
    return {"tokens": tokens}


def prompts(lengths: list[int], seed: int = 0) -> control.Arrays:
  tokens = np.zeros((len(lengths), LENGTH), np.int32)
  mask = np.arange(LENGTH) < np.array(lengths)[:, None]
  tokens[mask] = np.random.default_rng(seed).integers(2, VOCABULARY, mask.sum())
  return {"tokens": tokens, "mask": mask, "seed": np.int32(seed)}


SAMPLED = {"": prompts([3, 5]), "_one": prompts([1], 1), "_full": prompts([4, 12, 7], 2)}
BEGUN = {suffix: {"tokens": prompts([n] * batch, n)["tokens"][:, :n]}
         for suffix, batch, n in [("", 2, 3), ("_one", 1, 1)]}
MODELS = {
    "greedy": control.module(lambda: Sampler("greedy"), SAMPLED),
    "gumbel": control.module(lambda: Sampler("gumbel"), SAMPLED),
    "top_k": control.module(lambda: Sampler("top_k"), SAMPLED),
    "top_p": control.module(lambda: Sampler("top_p"), SAMPLED),
    "beam": control.module(Beam, BEGUN),
    "contrastive": control.module(Contrastive, BEGUN),
}


if __name__ == "__main__":
  keras.utils.set_random_seed(1)
  sys.exit(control.command_line(__doc__, MODELS))
