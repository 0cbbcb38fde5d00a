#!/usr/bin/env python3
"""Writes small decoders that `tenon generate` continues prompts with.

  tests/makers/generate_models.py --out tests/models/generate

variables/: a step whose cache of keys and values is in variables; feedback/: the
same with the cache as an input and an output; loop/: the loop is in the graph,
text goes in and out. variables/ also has signatures `tokenize` and `detokenize`
(a token is a byte). expected.json has what TensorFlow (oneDNN off) generates,
greedily.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf

VOCABULARY, WIDTH, LENGTH = 256, 12, 48
PROMPT = "The mill"
COUNT = 12


class Decoder(tf.Module):
  """One layer of attention over everything so far."""

  def __init__(self):
    super().__init__()
    rng = np.random.default_rng(5)

    def weight(*shape: int) -> tf.Variable:
      value = rng.normal(0, 1.5 / np.sqrt(shape[0]), shape)
      return tf.Variable(value.astype(np.float32))

    self.embedding = weight(VOCABULARY, WIDTH)
    self.embedding.assign(self.embedding * 10)
    self.projections = [weight(WIDTH, WIDTH) for _ in range(3)]
    self.head = weight(WIDTH, VOCABULARY)

  def project(self, ids: tf.Tensor) -> tuple[tf.Tensor, ...]:
    x = tf.gather(self.embedding, ids)
    return (x, *(tf.matmul(x, w) for w in self.projections))

  def attend(self, x: tf.Tensor, query: tf.Tensor, keys: tf.Tensor,
             values: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
    """Logits [1, tokens, vocabulary] of tokens that start at `position`."""
    places = position + tf.range(tf.shape(query)[1])
    visible = tf.range(tf.shape(keys)[1])[None] <= places[:, None]
    scores = tf.where(visible, tf.matmul(query, keys, transpose_b=True), -1e9)
    return tf.matmul(x + tf.matmul(tf.nn.softmax(scores), values), self.head)


class Variables(Decoder):
  """The cache is in variables."""

  def __init__(self):
    super().__init__()
    self.keys = tf.Variable(tf.zeros([1, LENGTH, WIDTH]))
    self.values = tf.Variable(tf.zeros([1, LENGTH, WIDTH]))

  @tf.function(input_signature=[tf.TensorSpec([1, None], tf.int32, "input_ids"),
                                tf.TensorSpec([], tf.int32, "position")])
  def step(self, input_ids, position):
    x, query, key, value = self.project(input_ids)
    end = position + tf.shape(input_ids)[1]
    for cache, new in ((self.keys, key), (self.values, value)):
      cache.assign(tf.concat([cache[:, :position], new, cache[:, end:]], 1))
    return {"logits": self.attend(x, query, self.keys, self.values, position)}

  @tf.function(input_signature=[tf.TensorSpec([], tf.string, "text")])
  def tokenize(self, text):
    return {"ids": tf.cast(tf.io.decode_raw(text, tf.uint8), tf.int32)}

  @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
  def detokenize(self, ids):
    letters = tf.constant([bytes([i]) for i in range(VOCABULARY)])
    return {"text": tf.strings.reduce_join(tf.gather(letters, ids))}


class Feedback(Decoder):
  """The cache is an input and an output."""

  @tf.function(input_signature=[
      tf.TensorSpec([1, None], tf.int64, "token_ids"),
      tf.TensorSpec([1, None, 2, WIDTH], tf.float32, "cache")])
  def step(self, token_ids, cache):
    x, query, key, value = self.project(token_ids)
    position = tf.shape(cache)[1]
    cache = tf.concat([cache, tf.stack([key, value], 2)], 1)
    return {"logits": self.attend(x, query, cache[:, :, 0], cache[:, :, 1],
                                  position), "cache": cache}


class Loop(Decoder):
  """The loop, and the bytes of the text, are in the graph."""

  @tf.function(input_signature=[tf.TensorSpec([1], tf.string, "prompt")])
  def generate(self, prompt):
    ids = tf.cast(tf.io.decode_raw(prompt, tf.uint8), tf.int32)
    start = tf.shape(ids)[1]

    def body(ids):
      x, query, keys, values = self.project(ids)
      logits = self.attend(x, query, keys, values, 0)
      best = tf.argmax(logits[:, -1], -1, tf.int32)
      return (tf.concat([ids, best[:, None]], 1),)

    (ids,) = tf.while_loop(
        lambda ids: tf.shape(ids)[1] < start + COUNT, body, (ids,),
        shape_invariants=(tf.TensorShape([1, None]),))
    letters = tf.constant([bytes([i]) for i in range(VOCABULARY)])
    return {"text": tf.strings.reduce_join(tf.gather(letters, ids), 1)}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  args = parser.parse_args()
  shutil.rmtree(args.out, ignore_errors=True)
  args.out.mkdir(parents=True)
  variables, feedback, loop = Variables(), Feedback(), Loop()
  for name, model, signatures in (
      ("variables", variables, {"serving_default": variables.step,
                                "tokenize": variables.tokenize,
                                "detokenize": variables.detokenize}),
      ("feedback", feedback, {"serving_default": feedback.step}),
      ("loop", loop, {"serving_default": loop.generate})):
    tf.saved_model.save(model, str(args.out / name), signatures=signatures)
    (args.out / name / "fingerprint.pb").unlink(missing_ok=True)
  # By steps with the cache in variables; the other forms must agree.
  ids = list(PROMPT.encode())
  logits = variables.step(tf.constant([ids]), 0)["logits"]
  tokens = []
  while True:
    tokens.append(int(tf.argmax(logits[0, -1])))
    if len(tokens) == COUNT:
      break
    place = len(ids) + len(tokens) - 1
    logits = variables.step(tf.constant([tokens[-1:]]), place)["logits"]
  text = loop.generate(tf.constant([PROMPT]))["text"].numpy()[0]
  assert list(text) == ids + tokens, (list(text), ids + tokens)
  assert len(set(tokens)) > COUNT // 2, tokens  # it does not get stuck
  record = {"tensorflow": tf.__version__, "prompt": PROMPT, "ids": ids,
            "tokens": tokens}
  (args.out / "expected.json").write_text(json.dumps(record) + "\n")
  return 0


if __name__ == "__main__":
  raise SystemExit(main())
