#!/usr/bin/env python3
"""Writes SavedModels of one decoding step: a token and the cache in, logits and new keys and values out.

    models.py FOLDER [--cached 128]

gpt2 has the sizes of GPT-2 small (12 layers, 768, 50257 words, tied embeddings), llama about 200 M
parameters (12 layers, 1024, grouped queries, rotary embedding, RMSNorm, SwiGLU). Plain TensorFlow,
random weights. `tokens` is [1, rows]: 1 row decodes, more rows are a prompt. Each FOLDER/NAME holds
saved_model; inputs.npz, a token after a text of as many tokens as are cached, and outputs.npz; text.npz,
that text with the token; weights.npz, the weights in the order in which the functions below make them.
"""
import argparse
import pathlib

import numpy as np
import tensorflow as tf


class Maker:
  """Random variables, and the parts that both models share."""

  def __init__(self, module: tf.Module) -> None:
    self.module = module
    self.random = np.random.default_rng(1)
    module.weights = []

  def weight(self, *shape: int, scale: float = 0.02) -> tf.Variable:
    value = self.random.standard_normal(shape, np.float32) * scale
    self.module.weights.append(tf.Variable(value))
    return self.module.weights[-1]

  def vector(self, n: int, value: float) -> tf.Variable:
    self.module.weights.append(tf.Variable(np.full(n, value, np.float32)))
    return self.module.weights[-1]


def attend(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, past_k: tf.Tensor,
           past_v: tf.Tensor, groups: int) -> tf.Tensor:
  """[1, heads, rows, size]; keys and values have 1 / groups of the heads."""
  rows, size = tf.shape(q)[2], q.shape[3]
  kv = k.shape[1]
  q = tf.reshape(q, [1, kv, groups * rows, size])
  past = tf.matmul(q, past_k, transpose_b=True)
  own = tf.matmul(q, k, transpose_b=True)
  mask = tf.linalg.band_part(tf.ones([rows, rows]), -1, 0)
  own += tf.tile((mask - 1) * 1e9, [groups, 1])
  scores = tf.concat([past, own], -1) * (1 / np.sqrt(size))
  p = tf.nn.softmax(scores)
  cached = past_k.shape[2]
  out = tf.matmul(p[..., :cached], past_v) + tf.matmul(p[..., cached:], v)
  return tf.reshape(out, [1, kv * groups, rows, size])


def gpt2(cached: int, layers: int = 12, dim: int = 768, heads: int = 12,
         words: int = 50257) -> tuple[tf.Module, list[tf.TensorSpec]]:
  module = tf.Module()
  make = Maker(module)
  wte, wpe = make.weight(words, dim), make.weight(1024, dim)
  blocks = [dict(
      g1=make.vector(dim, 1), b1=make.vector(dim, 0), g2=make.vector(dim, 1),
      b2=make.vector(dim, 0), qkv=make.weight(dim, 3 * dim),
      qkvb=make.vector(3 * dim, 0.1), out=make.weight(dim, dim),
      outb=make.vector(dim, 0.1), up=make.weight(dim, 4 * dim),
      upb=make.vector(4 * dim, 0.1), down=make.weight(4 * dim, dim),
      downb=make.vector(dim, 0.1)) for _ in range(layers)]
  gf, bf = make.vector(dim, 1), make.vector(dim, 0)

  def norm(x: tf.Tensor, g: tf.Variable, b: tf.Variable) -> tf.Tensor:
    mean = tf.reduce_mean(x, -1, keepdims=True)
    var = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(var + 1e-5) * g + b

  def split(x: tf.Tensor) -> tf.Tensor:
    x = tf.reshape(x, [1, -1, heads, dim // heads])
    return tf.transpose(x, [0, 2, 1, 3])

  def step(tokens: tf.Tensor, *cache: tf.Tensor) -> dict[str, tf.Tensor]:
    rows = tf.shape(tokens)[1]
    x = tf.gather(wte, tokens[0]) + wpe[cached:cached + rows]
    result = {}
    for i, b in enumerate(blocks):
      h = tf.matmul(norm(x, b["g1"], b["b1"]), b["qkv"]) + b["qkvb"]
      q, k, v = (split(t) for t in tf.split(h, 3, -1))
      a = attend(q, k, v, cache[2 * i], cache[2 * i + 1], 1)
      a = tf.reshape(tf.transpose(a, [0, 2, 1, 3]), [-1, dim])
      x += tf.matmul(a, b["out"]) + b["outb"]
      h = tf.matmul(norm(x, b["g2"], b["b2"]), b["up"]) + b["upb"]
      h = 0.5 * h * (1 + tf.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))
      x += tf.matmul(h, b["down"]) + b["downb"]
      result[f"k{i}"], result[f"v{i}"] = k, v
    logits = tf.matmul(norm(x, gf, bf), wte, transpose_b=True)
    result["logits"] = logits[tf.newaxis]
    return result

  module.step = step
  spec = tf.TensorSpec([1, heads, cached, dim // heads])
  return module, [spec] * (2 * layers)


def llama(cached: int, layers: int = 12, dim: int = 1024, heads: int = 16,
          kv: int = 4, hidden: int = 2816,
          words: int = 32000) -> tuple[tf.Module, list[tf.TensorSpec]]:
  module = tf.Module()
  make = Maker(module)
  size = dim // heads
  embed, head = make.weight(words, dim), make.weight(dim, words)
  blocks = [dict(
      n1=make.vector(dim, 1), n2=make.vector(dim, 1), q=make.weight(dim, dim),
      k=make.weight(dim, kv * size), v=make.weight(dim, kv * size),
      o=make.weight(dim, dim), gate=make.weight(dim, hidden),
      up=make.weight(dim, hidden), down=make.weight(hidden, dim))
            for _ in range(layers)]
  nf = make.vector(dim, 1)
  angles = np.outer(np.arange(2048), 1e4 ** (-np.arange(0, size, 2) / size))
  cos = tf.constant(np.cos(angles), tf.float32)
  sin = tf.constant(np.sin(angles), tf.float32)

  def norm(x: tf.Tensor, g: tf.Variable) -> tf.Tensor:
    return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5) * g

  def step(tokens: tf.Tensor, *cache: tf.Tensor) -> dict[str, tf.Tensor]:
    rows = tf.shape(tokens)[1]
    c, s = cos[cached:cached + rows], sin[cached:cached + rows]

    def split(x: tf.Tensor, n: int, rotate: bool) -> tf.Tensor:
      x = tf.transpose(tf.reshape(x, [1, -1, n, size]), [0, 2, 1, 3])
      if not rotate:
        return x
      a, b = tf.split(x, 2, -1)
      return tf.concat([a * c - b * s, b * c + a * s], -1)

    x = tf.gather(embed, tokens[0])
    result = {}
    for i, b in enumerate(blocks):
      h = norm(x, b["n1"])
      q = split(tf.matmul(h, b["q"]), heads, True)
      k = split(tf.matmul(h, b["k"]), kv, True)
      v = split(tf.matmul(h, b["v"]), kv, False)
      a = attend(q, k, v, cache[2 * i], cache[2 * i + 1], heads // kv)
      x += tf.matmul(tf.reshape(tf.transpose(a, [0, 2, 1, 3]), [-1, dim]), b["o"])
      h = norm(x, b["n2"])
      x += tf.matmul(tf.nn.silu(tf.matmul(h, b["gate"])) * tf.matmul(h, b["up"]),
                     b["down"])
      result[f"k{i}"], result[f"v{i}"] = k, v
    result["logits"] = tf.matmul(norm(x, nf), head)[tf.newaxis]
    return result

  module.step = step
  return module, [tf.TensorSpec([1, kv, cached, size])] * (2 * layers)


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("folder", type=pathlib.Path)
  parser.add_argument("--cached", type=int, default=128)
  args = parser.parse_args()
  for name, make in (("gpt2", gpt2), ("llama", llama)):
    module, cache = make(args.cached)
    specs = [tf.TensorSpec([1, None], tf.int32, name="tokens")]
    specs += [tf.TensorSpec(s.shape, s.dtype, name=f"past{i}")
              for i, s in enumerate(cache)]
    function = tf.function(module.step, input_signature=specs)
    target = args.folder / name
    tf.saved_model.save(module, str(target / "saved_model"), signatures=function)
    words = module.weights[0].shape[0]
    text = np.random.default_rng(2).integers(0, words, (1, args.cached + 1), np.int32)
    start, empty = make(0)
    before = start.step(tf.constant(text[:, :-1]), *(tf.zeros(s.shape) for s in empty))
    inputs = {"tokens": text[:, -1:]}
    for i in range(len(cache)):
      inputs[f"past{i}"] = before[f"{'kv'[i % 2]}{i // 2}"].numpy()
    outputs = function(*map(tf.constant, inputs.values()))
    np.savez(target / "inputs.npz", **inputs)
    np.savez(target / "outputs.npz", **{k: v.numpy() for k, v in outputs.items()})
    np.savez(target / "text.npz", text=text)
    np.savez(target / "weights.npz", *(w.numpy() for w in module.weights))


if __name__ == "__main__":
  main()
