"""Transformers of text: one of each way to attend, three layers of its base size."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import transformers

from zoo import hugging_face, network

_TOKENS = 128
_LAYERS = 3


def _encoder(kind: str, **changes: Any) -> network.Network:
  config = getattr(transformers, kind + "Config")(num_hidden_layers=_LAYERS,
                                                  **changes)
  return hugging_face.text(getattr(transformers, f"TF{kind}Model")(config),
                           _TOKENS, "last_hidden_state")


def _decoder(model: Any) -> network.Network:
  return hugging_face.text(model, _TOKENS, "logits")


def _translator(kind: str, **changes: Any) -> network.Network:
  """Encodes the tokens and decodes as many."""
  config = getattr(transformers, kind + "Config")(
      encoder_layers=_LAYERS, decoder_layers=_LAYERS, **changes)
  model = getattr(transformers, f"TF{kind}Model")(config)
  specs = {n: tf.TensorSpec((None, None), tf.int32)
           for n in ("input_ids", "decoder_input_ids")}
  model({n: tf.ones((1, 4), tf.int32) for n in specs})
  return network.Network(
      call=lambda **x: model(x, training=False, use_cache=False
                             )["last_hidden_state"],
      variables=model.variables, specs=specs,
      inputs=network.integers(config.vocab_size, input_ids=(_TOKENS,),
                              decoder_input_ids=(_TOKENS,)))


def albert() -> network.Network:
  return _encoder("Albert", hidden_size=768, num_attention_heads=12,
                  intermediate_size=3072)


def roberta() -> network.Network:
  return _encoder("Roberta", pad_token_id=0)


def electra() -> network.Network:
  return _encoder("Electra")


def mpnet() -> network.Network:
  """Relative positions in buckets, as a bias that all layers share."""
  return _encoder("MPNet", pad_token_id=0)


def roformer() -> network.Network:
  """Rotary positions in an encoder."""
  return _encoder("RoFormer", vocab_size=30522)


def convbert() -> network.Network:
  """Half the heads are convolutions whose filters the input makes."""
  return _encoder("ConvBert")


def mobilebert() -> network.Network:
  return _encoder("MobileBert")


def funnel() -> network.Network:
  """Pooled sequences, relative positions by shifting."""
  config = transformers.FunnelConfig(block_sizes=[2, 2, 2],
                                     num_decoder_layers=1)
  return hugging_face.text(transformers.TFFunnelModel(config), _TOKENS,
                           "last_hidden_state")


def deberta() -> network.Network:
  """Disentangled attention: contents and relative positions."""
  return _encoder("Deberta", relative_attention=True,
                  pos_att_type=["c2p", "p2c"], max_relative_positions=-1)


def deberta_v2() -> network.Network:
  return _encoder("DebertaV2", hidden_size=768, num_attention_heads=12,
                  intermediate_size=3072, relative_attention=True,
                  position_buckets=256, pos_att_type=["p2c", "c2p"],
                  share_att_key=True, norm_rel_ebd="layer_norm",
                  position_biased_input=False, vocab_size=30522)


def xlnet() -> network.Network:
  config = transformers.XLNetConfig(d_model=768, n_layer=_LAYERS, n_head=12,
                                    d_inner=3072)
  return hugging_face.text(transformers.TFXLNetModel(config), _TOKENS,
                           "last_hidden_state")


def xlm() -> network.Network:
  config = transformers.XLMConfig(emb_dim=768, n_layers=_LAYERS, n_heads=12,
                                  vocab_size=30145)
  return hugging_face.text(transformers.TFXLMModel(config), _TOKENS,
                           "last_hidden_state")


def longformer() -> network.Network:
  """Attention within windows, and over all for one token."""
  config = transformers.LongformerConfig(num_hidden_layers=_LAYERS,
                                         attention_window=64, pad_token_id=0,
                                         vocab_size=30522)
  return hugging_face.text(transformers.TFLongformerModel(config), 256,
                           "last_hidden_state")


def esm() -> network.Network:
  """Proteins."""
  return _encoder("Esm", vocab_size=33, hidden_size=480,
                  num_attention_heads=20, intermediate_size=1920,
                  pad_token_id=0, mask_token_id=32, token_dropout=True,
                  position_embedding_type="rotary")


def bart() -> network.Network:
  return _translator("Bart")


def marian() -> network.Network:
  return _translator("Marian", d_model=512, encoder_attention_heads=8,
                     decoder_attention_heads=8, encoder_ffn_dim=2048,
                     decoder_ffn_dim=2048, vocab_size=32000,
                     pad_token_id=0, decoder_start_token_id=0)


def led() -> network.Network:
  return _translator("LED", attention_window=64, d_model=512,
                     encoder_attention_heads=8, decoder_attention_heads=8,
                     encoder_ffn_dim=2048, decoder_ffn_dim=2048)


def gptj() -> network.Network:
  """Rotary positions of neighboring pairs; attention beside the dense layers."""
  return _decoder(transformers.TFGPTJForCausalLM(transformers.GPTJConfig(
      n_embd=768, n_layer=_LAYERS, n_head=12, rotary_dim=32, vocab_size=32000,
      n_positions=512, use_cache=False)))


def opt() -> network.Network:
  return _decoder(transformers.TFOPTForCausalLM(transformers.OPTConfig(
      num_hidden_layers=_LAYERS, vocab_size=32000, use_cache=False)))


def mistral() -> network.Network:
  """Heads that share keys, a window, RMS norms, a gated network."""
  return _decoder(transformers.TFMistralForCausalLM(transformers.MistralConfig(
      hidden_size=768, intermediate_size=2048, num_hidden_layers=_LAYERS,
      num_attention_heads=12, num_key_value_heads=4, sliding_window=64,
      use_cache=False, vocab_size=32000)))


def ctrl() -> network.Network:
  config = transformers.CTRLConfig(n_embd=768, dff=3072, n_layer=_LAYERS,
                                   n_head=12, vocab_size=32000,
                                   use_cache=False)
  return _decoder(transformers.TFCTRLLMHeadModel(config))
