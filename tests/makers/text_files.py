#!/usr/bin/env python3
"""Writes the small models that the golden cases of TensorFlow Text read.

  tests/makers/text_files.py      writes tests/numerics/files/text_*

Needs tensorflow-text beside TensorFlow.
"""

import pathlib

from tensorflow_text.core.pybinds import (
    pywrap_fast_bert_normalizer_model_builder as normalizer,
    pywrap_fast_wordpiece_tokenizer_model_builder as wordpiece)

FILES = pathlib.Path(__file__).resolve().parent.parent / "numerics" / "files"

VOCABULARY = ("[PAD] [UNK] [CLS] [SEP] a ab abc abcd ##b ##bc ##cd ##d ##z un ##aff ##able "
              "the ##re don ' t tread ##ness ## # , . ! 日 本 ##語 \u00e9 ##\u00e9 ##\u0301 "
              "\u0435 ##\u0435 \u05d0 ##\u05d1 ##\u05d1\u05d0 \U0001f600 ##\U0001f600 > ##> "
              "1 ##2 ##3").split()


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


if __name__ == "__main__":
  main()
