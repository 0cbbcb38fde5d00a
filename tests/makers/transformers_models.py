#!/usr/bin/env python3
"""Writes `generate` of Hugging Face's transformers, exported as they document it.

  tests/makers/transformers_models.py --out tests/models/steps/packages [NAME…]

Token ids and a mask to token ids. Weights are seeded random numbers. tests/makers/stepping.py tells
the files. Runs in the environment packages. Sampling with beams is left out: each of its steps takes
numbers from one sequence, and nothing in the graph says which step comes first.
"""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any, Callable

os.environ["TF_USE_LEGACY_KERAS"] = "1"

# pylint: disable=wrong-import-position
import stepping  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf
import transformers

VOCABULARY, NEW = 67, 9
# The arguments of generate().
MANNERS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "beam": {"num_beams": 3, "length_penalty": 1.5, "early_stopping": True},
    "sample": {"do_sample": True, "top_k": 20, "top_p": 0.9, "temperature": 0.8, "seed": (3, 4)},
    "contrastive": {"penalty_alpha": 0.5, "top_k": 4},
}


def gpt2() -> transformers.TFPreTrainedModel:
  return transformers.TFGPT2LMHeadModel(transformers.GPT2Config(
      vocab_size=VOCABULARY, n_positions=32, n_embd=16, n_layer=2, n_head=2,
      bos_token_id=66, eos_token_id=66, pad_token_id=66))


def t5() -> transformers.TFPreTrainedModel:
  return transformers.TFT5ForConditionalGeneration(transformers.T5Config(
      vocab_size=VOCABULARY, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_decoder_layers=1,
      num_heads=2, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0))


def randomize(model: transformers.TFPreTrainedModel, seed: int) -> None:
  rng = np.random.default_rng(seed)
  for variable in model.variables:
    mean = float("gamma" in variable.name or "norm/weight" in variable.name)
    deviation = 1.2 if variable.shape.rank > 1 else 0.1
    variable.assign(rng.normal(mean, deviation, variable.shape))


class Generator:
  """A model, and how it chooses tokens."""

  def __init__(self, make: Callable[[], transformers.TFPreTrainedModel], manner: str) -> None:
    self.model, self.manner = make(), MANNERS[manner]
    one = tf.constant([[3]])
    self.model({"input_ids": one, **({} if make is gpt2 else {"decoder_input_ids": one})})
    randomize(self.model, 8)

  @tf.function(input_signature=[tf.TensorSpec([2, 5], tf.int32, "input_ids"),
                                tf.TensorSpec([2, 5], tf.int32, "attention_mask")])
  def run(self, input_ids: tf.Tensor, attention_mask: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"sequences": self.model.generate(
        input_ids=input_ids, attention_mask=attention_mask, max_new_tokens=NEW, **self.manner)}


MODELS = {f"transformers_{make.__name__}_{manner}": (make, manner)
          for make in (gpt2, t5) for manner in MANNERS}


def write(out: pathlib.Path, name: str) -> None:
  tf.random.set_seed(1)
  target = stepping.fresh(out / name)
  made, saved = Generator(*MODELS[name]), tf.Module()
  saved.weights = made.model.variables
  stepping.save(saved, target, made.run)
  pad = made.model.config.pad_token_id
  ids = np.array([[[pad, pad, 5, 8, 20], [3, 7, 9, 50, 23]],
                  [[41, 12, 30, 8, 20], [pad, pad, pad, pad, 17]]], np.int32)
  stepping.write_steps(
      target, {"input_ids": ids, "attention_mask": (ids != pad).astype(np.int32)}, 2)
  stepping.note(target)


if __name__ == "__main__":
  sys.exit(stepping.write_named(__doc__, MODELS, write))
