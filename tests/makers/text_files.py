#!/usr/bin/env python3
"""Writes the small models that the golden cases of TensorFlow Text read.

  tests/makers/text_files.py      writes tests/numerics/files/text_*

Needs tensorflow-text and sentencepiece beside TensorFlow.
"""

import pathlib
import struct
import tempfile

from tensorflow_text.core.pybinds import (
    pywrap_fast_bert_normalizer_model_builder as normalizer,
    pywrap_fast_wordpiece_tokenizer_model_builder as wordpiece,
    pywrap_model_converter as pieces,
    pywrap_phrase_tokenizer_model_builder as phrases)

from text_models import train

FILES = pathlib.Path(__file__).resolve().parent.parent / "numerics" / "files"

VOCABULARY = ("[PAD] [UNK] [CLS] [SEP] a ab abc abcd ##b ##bc ##cd ##d ##z un ##aff ##able "
              "the ##re don ' t tread ##ness ## # , . ! 日 本 ##語 \u00e9 ##\u00e9 ##\u0301 "
              "\u0435 ##\u0435 \u05d0 ##\u05d1 ##\u05d1\u05d0 \U0001f600 ##\U0001f600 > ##> "
              "1 ##2 ##3").split()

PHRASES = ("<UNK> a b c I like have dream don 't walk the . , New York"
           " é 日本 ?").split() + ["a dream", "I like", "I like the", "New York",
                                  "New York City", "é 日本"]


def with_far_codes(model: bytes) -> bytes:
  """The model with codes that begin near the end of int32: the field for this, which is not stored, gets the place of
  another one."""
  changed = bytearray(model)
  root, = struct.unpack_from("<I", changed)
  fields = root - struct.unpack_from("<i", changed, root)[0] + 4
  struct.pack_into("<H", changed, fields + 2 * 5, struct.unpack_from("<H", changed, fields + 2 * 1)[0])
  struct.pack_into("<i", changed, root + struct.unpack_from("<H", changed, fields + 2 * 5)[0], 2**31 - 5)
  return bytes(changed)


def main() -> None:
  # For texts, for words, and for words with another mark of pieces that continue.
  for name, indicator, words in [("texts", "##", False), ("words", "##", True),
                                 ("other", "<>", True)]:
    vocabulary = [v.replace("##", indicator) for v in VOCABULARY]
    model = wordpiece.build_fast_wordpiece_model(vocabulary, 20, indicator,
                                                 "[UNK]", words, True)
    (FILES / f"text_wordpiece_{name}.bin").write_bytes(model)
    print(name, len(model))
  model = normalizer.build_fast_bert_normalizer_model(False)
  (FILES / "text_normalizer.bin").write_bytes(model)
  print("normalizer", len(model))
  # Short rules instead of all of Unicode's: code points, and those in their place.
  with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
    rules.write("41\t61\nFB01\t66 69\n65 301\tE9\n2460\t31 20\nAD\t\n")
    rules.flush()
    models = {"": train(vocab_size=300, normalization_rule_tsv=rules.name),
              "_identity": train(vocab_size=300, add_dummy_prefix=False,
                                 normalization_rule_name="identity",
                                 remove_extra_whitespaces=False)}
  for name, model in models.items():
    encoder = pieces.convert_sentencepiece_model(model)
    decoder = pieces.convert_sentencepiece_model_for_decoder(model)
    (FILES / f"text_pieces{name}.bin").write_bytes(encoder)
    if not name:
      (FILES / "text_pieces_far.bin").write_bytes(with_far_codes(encoder))
    (FILES / f"text_pieces{name}_decoder.bin").write_bytes(decoder)
    print("pieces", name, len(encoder), len(decoder))
  # The probability of shorter phrases in percent, and whether endings are split.
  for name, percent, split in [("long", 0, True), ("short", 100, False),
                               ("random", 50, False)]:
    model = phrases.build_phrase_model(PHRASES, "<UNK>", name != "short",
                                       percent, split)
    (FILES / f"text_phrases_{name}.bin").write_bytes(model)
    print("phrases", name, len(model))


if __name__ == "__main__":
  main()
