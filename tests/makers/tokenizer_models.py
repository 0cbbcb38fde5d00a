#!/usr/bin/env python3
"""Writes tokenizers whose signature takes text and gives token ids, as `--tokenizer` names them.

  tests/makers/tokenizer_models.py --out tests/models/tokenizers

pieces/: SentencePiece; [texts] to ragged ids, that is values and row splits. byte_pairs/: KerasHub's
byte-pair tokenizer; [texts] to [texts, tokens]. word_pieces/: BERT's; one text to [tokens], and to
where they start and end. expected.json has the ids that TensorFlow computes. Needs what
text_models.py needs.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import sys

import text_models  # sets the environment before TensorFlow is imported
import tensorflow as tf
import tensorflow_text as text
from keras_hub.src.tokenizers import byte_pair_tokenizer as byte_pair

TEXTS = tf.TensorSpec([None], tf.string, "texts")
LINE = ("The mill stands by the river, over the dark water; its wheel turns slowly, été comme hiver, "
        "turning in the evening.\n")


class Pieces(tf.Module):
  def __init__(self) -> None:
    super().__init__()
    self.tokenizer = text.SentencepieceTokenizer(
        model=text_models.train(model_type="unigram", vocab_size=320,
                                  normalization_rule_name="identity"))

  @tf.function(input_signature=[TEXTS])
  def run(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
    ids = self.tokenizer.tokenize(texts)
    return {"row_splits": ids.row_splits, "values": ids.flat_values}


class BytePairs(tf.Module):
  def __init__(self) -> None:
    super().__init__()
    _, letters = byte_pair.bytes_to_unicode()
    merges = ["t h", "th e", "Ġ the", "o w", "o v", "ov er", "Ġ d", "e r", "i n", "in g", "Ã ©"]
    pieces = letters + [m.replace(" ", "") for m in merges]
    self.tokenizer = byte_pair.BytePairTokenizer(
        vocabulary={piece: i for i, piece in enumerate(pieces)}, merges=merges)

  @tf.function(input_signature=[TEXTS])
  def run(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"ids": self.tokenizer(texts).to_tensor()}


class WordPieces(tf.Module):
  def __init__(self) -> None:
    super().__init__()
    self.tokenizer = text.FastWordpieceTokenizer(text_models.vocabulary(), token_out_type=tf.int32)

  @tf.function(input_signature=[tf.TensorSpec([], tf.string, "text")])
  def run(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
    ids, starts, ends = self.tokenizer.tokenize_with_offsets(text[None])
    return {"ends": ends.flat_values, "ids": ids.flat_values, "starts": starts.flat_values}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  args = parser.parse_args()
  shutil.rmtree(args.out, ignore_errors=True)
  args.out.mkdir(parents=True)
  expected = {}
  for name, model, line in (("pieces", Pieces(), [LINE]), ("byte_pairs", BytePairs(), [LINE]),
                            ("word_pieces", WordPieces(), LINE)):
    tf.saved_model.save(model, str(args.out / name), signatures=model.run,
                        options=tf.saved_model.SaveOptions(experimental_debug_stripper=True))
    (args.out / name / "fingerprint.pb").unlink(missing_ok=True)
    outputs = model.run(tf.constant(line))
    ids = outputs["values" if name == "pieces" else "ids"]
    expected[name] = ids.numpy().reshape(-1).tolist()
  record = {"tensorflow": tf.__version__, "text": LINE, "ids": expected}
  (args.out / "expected.json").write_text(json.dumps(record) + "\n")
  return 0


if __name__ == "__main__":
  sys.exit(main())
