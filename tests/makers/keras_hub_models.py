#!/usr/bin/env python3
"""Writes `generate` of KerasHub's language models, as its users export it.

  tests/makers/keras_hub_models.py --out tests/models/steps/packages [NAME…]

gpt2_…: text to text, tokenizer and all; llama_…: padded token ids and their mask to the same.
Weights are seeded random numbers. Samplers that draw keep a state between runs. tests/makers/stepping.py
tells the files. Runs in the environment packages.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Callable

import stepping  # sets the environment before TensorFlow is imported
import keras
import keras_hub
import numpy as np
import tensorflow as tf
from keras_hub.src.tokenizers import byte_pair_tokenizer as byte_pair

LENGTH, END = 16, "<|endoftext|>"
MERGES = ["Ġ t", "h e", "Ġt he", "i l", "il l", "Ġ m", "Ġm ill", "e r"]
SAMPLERS: dict[str, Callable[[], keras_hub.samplers.Sampler]] = {
    "greedy": keras_hub.samplers.GreedySampler,
    "top_k": lambda: keras_hub.samplers.TopKSampler(k=5, temperature=0.8, seed=11),
    "top_p": lambda: keras_hub.samplers.TopPSampler(p=0.9, k=20, seed=12),
    "random": lambda: keras_hub.samplers.RandomSampler(temperature=1.3, seed=13),
    "beam": lambda: keras_hub.samplers.BeamSampler(num_beams=3),
    "contrastive": lambda: keras_hub.samplers.ContrastiveSampler(k=3, alpha=0.4),
}


def randomize(model: keras.Model, seed: int) -> None:
  rng = np.random.default_rng(seed)
  for weight in model.weights:
    mean = float(weight.path.endswith(("gamma", "scale")))
    deviation = 0.8 if len(weight.shape) > 1 else 0.1
    weight.assign(rng.normal(mean, deviation, weight.shape))


class Generator:
  """A language model with one of the samplers."""

  def __init__(self, model: keras_hub.models.CausalLM, sampler: str) -> None:
    randomize(model, 7)
    chosen = SAMPLERS[sampler]()
    model.compile(sampler=chosen)
    self.model = model
    self.resources = [*model.weights]
    if getattr(chosen, "seed_generator", None) is not None:
      self.resources.append(chosen.seed_generator.state)


class Gpt2(Generator):
  """Text to text, and to the token ids that it stands for."""

  def __init__(self, sampler: str) -> None:
    _, letters = byte_pair.bytes_to_unicode()
    pieces = [*letters, *(m.replace(" ", "") for m in MERGES), END]
    self.tokenizer = keras_hub.models.GPT2Tokenizer(
        vocabulary={piece: i for i, piece in enumerate(pieces)}, merges=MERGES)
    self.preprocessor = keras_hub.models.GPT2CausalLMPreprocessor(
        self.tokenizer, sequence_length=LENGTH)
    super().__init__(keras_hub.models.GPT2CausalLM(
        backbone=keras_hub.models.GPT2Backbone(
            vocabulary_size=len(pieces), num_layers=2, num_heads=2, hidden_dim=12,
            intermediate_dim=20, max_sequence_length=LENGTH, dropout=0.0),
        preprocessor=self.preprocessor), sampler)
    self.resources.append(self.tokenizer)

  @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "prompts")])
  def run(self, prompts: tf.Tensor) -> dict[str, tf.Tensor]:
    end = self.tokenizer.end_token_id
    made = self.model.generate_step(self.preprocessor.generate_preprocess(prompts), [end])
    ids, mask = made["token_ids"], made["padding_mask"]
    # generate_postprocess does the same outside of graphs.
    said = tf.ragged.boolean_mask(ids, tf.cast(mask, tf.bool) & (ids != end))
    # A line each, because NumPy's arrays of bytes drop zeros at an end.
    text = tf.strings.join([self.tokenizer.detokenize(said), "\n"])
    return {"text": text, "token_ids": ids}


class Llama(Generator):
  """Token ids to token ids; both have a mask."""

  VOCABULARY, END = 29, 1

  def __init__(self, sampler: str) -> None:
    super().__init__(keras_hub.models.LlamaCausalLM(
        backbone=keras_hub.models.LlamaBackbone(
            vocabulary_size=self.VOCABULARY, num_layers=1, num_query_heads=4,
            num_key_value_heads=2, hidden_dim=16, intermediate_dim=24)), sampler)

  @tf.function(input_signature=[tf.TensorSpec([None, LENGTH], tf.int32, "token_ids"),
                                tf.TensorSpec([None, LENGTH], tf.bool, "padding_mask")])
  def run(self, token_ids: tf.Tensor, padding_mask: tf.Tensor) -> dict[str, tf.Tensor]:
    return self.model.generate_step(
        {"token_ids": token_ids, "padding_mask": padding_mask}, [self.END])


def padded(*rows: tuple[int, ...]) -> stepping.Arrays:
  """Prompts of so many tokens in each row, for each run."""
  mask = np.arange(LENGTH) < np.array(rows)[..., None]
  ids = np.random.default_rng(len(rows)).integers(2, Llama.VOCABULARY, mask.shape)
  return {"token_ids": np.where(mask, ids, 0).astype(np.int32), "padding_mask": mask}


TEXTS = {"prompts": np.array([[b"the mill", b"a"], [b"", b"then the mill, the mill"]])}
IDS = padded((3, 5), (1, 1), (LENGTH, 4))
MODELS = {**{f"gpt2_{how}": (Gpt2, how, TEXTS) for how in SAMPLERS},
          **{f"llama_{how}": (Llama, how, IDS) for how in SAMPLERS}}


def write(out: pathlib.Path, name: str) -> None:
  make, how, feeds = MODELS[name]
  keras.utils.set_random_seed(1)
  target = stepping.fresh(out / name)
  made, saved = make(how), tf.Module()
  saved.resources = made.resources
  stepping.save(saved, target, made.run)
  stepping.write_steps(target, feeds, 4)
  stepping.note(target)


if __name__ == "__main__":
  sys.exit(stepping.write_named(__doc__, MODELS, write))
