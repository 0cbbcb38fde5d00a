"""Transformers of images, and of images with text or sound: a few layers of each."""

from __future__ import annotations

import tensorflow as tf
import transformers

from zoo import hugging_face, network

_LAYERS = 3


def data2vec() -> network.Network:
  """BEiT's layers: relative positions of patches."""
  return hugging_face.vision(transformers.TFData2VecVisionModel(
      transformers.Data2VecVisionConfig(
          num_hidden_layers=_LAYERS, use_relative_position_bias=True,
          use_mask_token=False, use_absolute_position_embeddings=False)),
                             224, "last_hidden_state")


def deit() -> network.Network:
  return hugging_face.vision(transformers.TFDeiTForImageClassification(
      transformers.DeiTConfig(hidden_size=384, num_attention_heads=6,
                              intermediate_size=1536,
                              num_hidden_layers=_LAYERS, num_labels=1000)),
                             224, "logits")


def cvt() -> network.Network:
  """Convolutions make queries, keys and values."""
  config = transformers.CvtConfig(depth=[1, 2, 4], num_labels=1000)
  config.image_size = 224
  return hugging_face.vision(transformers.TFCvtForImageClassification(config),
                             224, "logits")


def efficientformer() -> network.Network:
  return hugging_face.vision(
      transformers.TFEfficientFormerForImageClassification(
          transformers.EfficientFormerConfig(num_labels=1000)), 224, "logits")


def convnextv2() -> network.Network:
  """Global response normalization."""
  return hugging_face.vision(transformers.TFConvNextV2ForImageClassification(
      transformers.ConvNextV2Config(hidden_sizes=[40, 80, 160, 320],
                                    depths=[2, 2, 6, 2], num_labels=1000)),
                             224, "logits")


def regnet() -> network.Network:
  return hugging_face.vision(transformers.TFRegNetForImageClassification(
      transformers.RegNetConfig(
          hidden_sizes=[48, 120, 336, 888], depths=[2, 4, 8, 1],
          groups_width=24, layer_type="y", num_labels=1000)), 224, "logits")


def sam() -> network.Network:
  """The image encoder: windows with positions of both axes added."""
  model = transformers.TFSamModel(transformers.SamConfig(
      vision_config=transformers.SamVisionConfig(
          hidden_size=384, num_attention_heads=6, num_hidden_layers=4,
          global_attn_indexes=[1, 3], image_size=512, mlp_dim=1536).to_dict()))
  shape = (3, 512, 512)
  encoder = model.vision_encoder
  encoder(tf.zeros((1, *shape)))
  return network.Network(
      call=lambda pixel_values: encoder(pixel_values, training=False
                                        )["last_hidden_state"],
      variables=encoder.variables,
      specs={"pixel_values": tf.TensorSpec((None, *shape), tf.float32)},
      inputs=network.image("pixel_values", 512, 512, channels_first=True))


def clip() -> network.Network:
  """Two towers: an image against texts."""
  model = transformers.TFCLIPModel(transformers.CLIPConfig(
      text_config={"num_hidden_layers": _LAYERS},
      vision_config={"num_hidden_layers": _LAYERS}))
  specs = {"pixel_values": tf.TensorSpec((None, 3, 224, 224), tf.float32),
           "input_ids": tf.TensorSpec((None, 77), tf.int32)}
  model({"pixel_values": tf.zeros((1, 3, 224, 224)),
         "input_ids": tf.ones((1, 77), tf.int32)})
  image = network.image("pixel_values", 224, 224, channels_first=True)
  text = network.integers(49408, input_ids=(77,))
  return network.Network(
      call=lambda **x: model(x, training=False)["logits_per_image"],
      variables=model.variables, specs=specs,
      inputs=lambda rng, batch: {**image(rng, batch), **text(rng, batch)})


def hubert() -> network.Network:
  """One second of sound."""
  return hugging_face.sound(transformers.TFHubertModel(
      transformers.HubertConfig(num_hidden_layers=_LAYERS)), 16000)


def speech_to_text() -> network.Network:
  """Six seconds of sound, 32 tokens."""
  config = transformers.Speech2TextConfig(encoder_layers=_LAYERS,
                                          decoder_layers=_LAYERS)
  model = transformers.TFSpeech2TextModel(config)
  shape = (584, 80)
  model({"input_features": tf.zeros((1, *shape)),
         "decoder_input_ids": tf.ones((1, 4), tf.int32)})
  sound = network.normal(input_features=shape)
  text = network.integers(config.vocab_size, decoder_input_ids=(32,))
  return network.Network(
      call=lambda **x: model(x, training=False, use_cache=False
                             )["last_hidden_state"],
      variables=model.variables,
      specs={"input_features": tf.TensorSpec((None, *shape), tf.float32),
             "decoder_input_ids": tf.TensorSpec((None, 32), tf.int32)},
      inputs=lambda rng, batch: {**sound(rng, batch), **text(rng, batch)})
