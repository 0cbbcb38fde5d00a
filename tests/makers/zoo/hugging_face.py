"""Networks of Hugging Face's transformers, its TensorFlow classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import transformers

from zoo import network

Arrays = network.Arrays
_INT = tf.int32


def _ids(vocabulary: int, tokens: int) -> Callable[..., Arrays]:
  def make(rng: np.random.Generator, batch: int) -> Arrays:
    ids = rng.integers(1, vocabulary, (batch, tokens)).astype(np.int32)
    mask = np.ones_like(ids)
    mask[:, tokens - tokens // 8:] = 0
    return {"input_ids": ids * mask, "attention_mask": mask}
  return make


def text(model: Any, tokens: int, output: str) -> network.Network:
  """A model of token ids and their mask."""
  specs = {n: tf.TensorSpec((None, None), _INT)
           for n in ("input_ids", "attention_mask")}
  model({n: tf.ones((1, 4), _INT) for n in specs})
  return network.Network(
      call=lambda **x: model(x, training=False)[output],
      variables=model.variables, specs=specs,
      inputs=_ids(model.config.vocab_size, tokens))


def bert() -> network.Network:
  return text(transformers.TFBertModel(transformers.BertConfig()), 128,
              "last_hidden_state")


def distilbert() -> network.Network:
  return text(transformers.TFDistilBertModel(transformers.DistilBertConfig()),
              128, "last_hidden_state")


def gpt2_prefill() -> network.Network:
  model = transformers.TFGPT2LMHeadModel(
      transformers.GPT2Config(use_cache=False))
  return text(model, 128, "logits")


def gpt2_decode(past: int = 512) -> network.Network:
  """One token with the keys and values of `past` tokens, as inputs."""
  config = transformers.GPT2Config()
  model = transformers.TFGPT2LMHeadModel(config)
  model(tf.ones((1, 4), _INT))
  heads, size = config.n_head, config.n_embd // config.n_head

  def call(input_ids: Any, cache: Any) -> dict[str, Any]:
    layers = [tuple(tf.unstack(layer, 2)) for layer in
              tf.unstack(cache, config.n_layer)]
    result = model(input_ids, past_key_values=layers, use_cache=True,
                   training=False)
    # What this token adds; the caller appends it.
    added = [tf.stack(layer)[..., -1:, :]
             for layer in result["past_key_values"]]
    return {"logits": result["logits"], "added": tf.stack(added)}

  def inputs(rng: np.random.Generator, batch: int) -> Arrays:
    shape = (config.n_layer, 2, batch, heads, past, size)
    return {"input_ids": rng.integers(0, config.vocab_size, (batch, 1)
                                      ).astype(np.int32),
            "cache": rng.normal(0, 1, shape).astype(np.float32)}

  return network.Network(
      call=call, variables=model.variables, inputs=inputs,
      specs={"input_ids": tf.TensorSpec((None, 1), _INT),
             "cache": tf.TensorSpec((config.n_layer, 2, None, heads, None, size),
                                    tf.float32)})


def t5() -> network.Network:
  """T5-small: 64 tokens encoded, 32 decoded."""
  config = transformers.T5Config()  # the sizes of T5-small
  model = transformers.TFT5ForConditionalGeneration(config)
  specs = {n: tf.TensorSpec((None, None), _INT)
           for n in ("input_ids", "decoder_input_ids")}
  model({n: tf.ones((1, 4), _INT) for n in specs})
  return network.Network(
      call=lambda **x: model(x, training=False, use_cache=False)["logits"],
      variables=model.variables, specs=specs,
      inputs=network.integers(config.vocab_size, input_ids=(64,),
                              decoder_input_ids=(32,)))


def vision(model: Any, size: int, output: str) -> network.Network:
  """A model of images, channels first as these classes take them."""
  model({"pixel_values": tf.zeros((1, 3, size, size))})
  return network.Network(
      call=lambda **x: model(x, training=False)[output],
      variables=model.variables,
      specs={"pixel_values": tf.TensorSpec((None, 3, size, size), tf.float32)},
      inputs=network.image("pixel_values", size, size, channels_first=True))


def vit() -> network.Network:
  return vision(transformers.TFViTForImageClassification(
      transformers.ViTConfig(num_labels=1000)), 224, "logits")


def swin() -> network.Network:
  return vision(transformers.TFSwinForImageClassification(
      transformers.SwinConfig(num_labels=1000)), 224, "logits")


def segformer() -> network.Network:
  return vision(transformers.TFSegformerForSemanticSegmentation(
      transformers.SegformerConfig(num_labels=150)), 512, "logits")


def mobilevit() -> network.Network:
  return vision(transformers.TFMobileViTForImageClassification(
      transformers.MobileViTConfig(num_labels=1000)), 256, "logits")


def sound(model: Any, samples: int) -> network.Network:
  """A model of sound at 16,000 samples per second."""
  model({"input_values": tf.zeros((1, samples))})
  return network.Network(
      call=lambda **x: model(x, training=False)["last_hidden_state"],
      variables=model.variables,
      specs={"input_values": tf.TensorSpec((None, samples), tf.float32)},
      inputs=network.normal(input_values=(samples,)))


def wav2vec2() -> network.Network:
  """Two seconds."""
  return sound(transformers.TFWav2Vec2Model(transformers.Wav2Vec2Config()),
               32000)


def whisper() -> network.Network:
  """Whisper-tiny's encoder: 30 seconds of sound."""
  model = transformers.TFWhisperModel(transformers.WhisperConfig(
      d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
      decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536))
  shape = (80, 3000)
  model({"input_features": tf.zeros((1, *shape)),
         "decoder_input_ids": tf.ones((1, 1), _INT)})
  encoder = model.model.encoder
  return network.Network(
      call=lambda input_features: encoder(
          input_features, training=False)["last_hidden_state"],
      variables=encoder.variables,
      specs={"input_features": tf.TensorSpec((None, *shape), tf.float32)},
      inputs=network.normal(input_features=shape))
