#!/usr/bin/env python3
"""Writes models that read text: TensorFlow Text's tokenizers and a tiny BERT.

  tests/makers/text_models.py --out tests/models/text [NAME…]

Needs tensorflow-text and sentencepiece beside TensorFlow, byte_pairs also keras-hub. Each NAME/ holds saved_model and
inputs*.npz with outputs*.npz, as tests/models/README.md tells.
"""

from __future__ import annotations

import argparse
import copy
import io
import pathlib
import sys
import tempfile
from typing import Any

import models  # sets the environment before TensorFlow is imported
import control_models
import numpy as np
import sentencepiece
import tensorflow as tf
import tensorflow_text as text

# 16 languages; then combining marks, both directions in one text, emoji with
# modifiers, spaces of many kinds, symbols, and bytes that are not UTF-8.
SENTENCES = [
    "The quick brown fox doesn't jump over 12 lazy dogs.",
    "Der Straßenbäcker verkauft süße Brötchen für 3,50 €.",
    "L'été dernier, nous étions à la plage : c'était génial !",
    "¿Dónde está el niño pequeño? ¡Aquí mañana!",
    "A manhã não é só de João; é também nossa.",
    "Źdźbło trawy i żółta łódź płyną ku ujściu.",
    "Съешь ещё этих мягких французских булок, да выпей чаю.",
    "Ο γρήγορος ΣΚΎΛΟΣ τρέχει, ΆΝΘΡΩΠΟΣ.",
    "שָׁלוֹם עולם, מה שלומך היום?",
    "مرحبًا بالعالم، كَيْفَ حالُك؟",
    "नमस्ते दुनिया, आप कैसे हैं?",
    "สวัสดีชาวโลก วันนี้อากาศดีมาก",
    "我们在北京吃了三个苹果。",
    "東京でカタカナとひらがなを読む。",
    "안녕하세요 세계, 오늘 날씨가 좋네요.",
    "Iğdır'da çok şirin bir ÇAY bahçesi var.",
    "e\u0301te\u0301 a\u0308\u0323 n\u0303 \u1112\u1161\u11ab q\u0307\u0323",
    "english עברית english العربية 123 \u200fabc\u200e",
    "\U0001f600\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f!",
    "a\u00a0b\u2003c\u3000d\u2028e\u0085f\tg\r\nh",
    "x=(y+z)*2; <tag> [unused1] $5^2 a_b ~`| «»„“…—",
    b"bad \xff bytes \xc3( \xe6\x97 end\xf0\x9f",
    "", " ", "supercalifragilisticexpialidocious" * 4, "##ing ## [MASK]",
]
LINES = [s if isinstance(s, bytes) else s.encode() for s in SENTENCES]


def vocabulary() -> list[str]:
  """Special tokens, characters, and pieces of some of the sentences' words."""
  pieces = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
  normal = [s for i, s in enumerate(SENTENCES[:21]) if i % 3 != 2]
  for sentence in normal:
    for form in (sentence, text.normalize_utf8(
        text.case_fold_utf8(sentence), "NFD").numpy().decode()):
      words = "".join(c if c.isalnum() or not c.isascii() else f" {c} "
                      for c in form).split()
      for word in words:
        pieces[word[:4]] = pieces[word[0]] = None
        for i in range(1, len(word)):
          pieces["##" + word[i]] = None
        pieces["##" + word[4:]] = None
  return [p for p in pieces if p != "##"]


class Encoder(tf.Module):
  """Token ids and segments to two logits, by one layer of a tiny BERT."""

  def __init__(self, size: int, length: int, width: int = 16) -> None:
    super().__init__()
    rng = np.random.default_rng(16)

    def weights(*shape: int) -> tf.Variable:
      return tf.Variable(rng.normal(0, shape[0] ** -0.5, shape), dtype=tf.float32)

    self.words = tf.Variable(rng.normal(0, 1, (size, width)), dtype=tf.float32)
    self.places, self.segments = weights(length, width), weights(2, width)
    self.qkv, self.out = weights(width, 3 * width), weights(width, width)
    self.up, self.down = weights(width, 4 * width), weights(4 * width, width)
    self.head = weights(width, 2)

  @staticmethod
  def norm(x: tf.Tensor) -> tf.Tensor:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6)

  def __call__(self, ids: tf.Tensor, segments: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    x = self.norm(tf.gather(self.words, ids) + tf.gather(self.segments, segments)
                  + self.places[:tf.shape(ids)[1]])
    q, k, v = tf.split(tf.tensordot(x, self.qkv, 1), 3, -1)
    scores = tf.matmul(q, k, transpose_b=True) / 4.0
    scores += (1.0 - tf.cast(mask, tf.float32)[:, None]) * -1e9
    x = self.norm(x + tf.tensordot(tf.matmul(tf.nn.softmax(scores), v), self.out, 1))
    y = tf.nn.gelu(tf.tensordot(x, self.up, 1))
    x = self.norm(x + tf.tensordot(y, self.down, 1))
    return tf.tensordot(x[:, 0], self.head, 1)


class Bert(tf.Module):
  """Pairs of sentences to token ids and logits."""

  def __init__(self, fast: bool, length: int = 24) -> None:
    super().__init__()
    words = vocabulary()
    self.length, self.fast = length, fast
    if fast:
      self.tokenizer = text.FastBertTokenizer(
          words, token_out_type=tf.int32, lower_case_nfd_strip_accents=True,
          support_detokenization=True)
    else:
      path = pathlib.Path(tempfile.mkdtemp()) / "vocabulary.txt"
      path.write_text("\n".join(words) + "\n")
      self.tokenizer = text.BertTokenizer(str(path), token_out_type=tf.int32,
                                          lower_case=True)
    self.encoder = Encoder(len(words), length)
    self.trimmer = (text.RoundRobinTrimmer if fast else text.WaterfallTrimmer)(length - 3)

  def run(self, first: tf.Tensor, second: tf.Tensor) -> dict[str, tf.Tensor]:
    segments = [self.tokenizer.tokenize(s) for s in (first, second)]
    if not self.fast:  # has an axis of words
      segments = [s.merge_dims(-2, -1) for s in segments]
    whole, kinds = text.combine_segments(self.trimmer.trim(segments), 2, 3)
    ids, mask = text.pad_model_inputs(whole, self.length)
    kinds, _ = text.pad_model_inputs(kinds, self.length)
    tokens, starts, ends = self.tokenizer.tokenize_with_offsets(first)
    words = self.tokenizer.detokenize(segments[0])
    return {"ids": ids, "mask": mask, "segments": kinds,
            "logits": self.encoder(ids, kinds, mask),
            "tokens": tokens.flat_values, "starts": starts.flat_values,
            "ends": ends.flat_values,
            "words": words if self.fast else words.to_tensor()}


# The beginning of "Alice's Adventures in Wonderland" (Lewis Carroll, 1865).
PROSE = """Alice was beginning to get very tired of sitting by her sister on the bank, and
of having nothing to do: once or twice she had peeped into the book her sister was
reading, but it had no pictures or conversations in it, "and what is the use of a book,"
thought Alice, "without pictures or conversations?" So she was considering in her own
mind (as well as she could, for the hot day made her feel very sleepy and stupid),
whether the pleasure of making a daisy-chain would be worth the trouble of getting up and
picking the daisies, when suddenly a White Rabbit with pink eyes ran close by her. There
was nothing so very remarkable in that; nor did Alice think it so very much out of the
way to hear the Rabbit say to itself, "Oh dear! Oh dear! I shall be late!" """


def train(**options: Any) -> bytes:
  """A SentencePiece model of the prose and the sentences."""
  lines = PROSE.replace("\n", " ").split(", ") * 3 + SENTENCES[:15]
  model = io.BytesIO()
  sentencepiece.SentencePieceTrainer.train(
      sentence_iterator=iter(lines), model_writer=model, minloglevel=2,
      num_threads=1, **options)
  return model.getvalue()


class Pieces(tf.Module):
  """Everything that TensorFlow Text does with a SentencePiece model."""

  def __init__(self, **options: Any) -> None:
    super().__init__()
    self.ids = text.SentencepieceTokenizer(model=train(**options))

  def variant(self, **options: Any) -> text.SentencepieceTokenizer:
    """The same with other options; the model is saved once."""
    tokenizer = copy.copy(self.ids)
    tokenizer.add_bos = tokenizer.add_eos = True
    for name, value in options.items():
      setattr(tokenizer, name, value)
    return tokenizer

  def run(self, first: tf.Tensor, second: tf.Tensor) -> dict[str, tf.Tensor]:
    marked, reverse = self.variant(out_type=tf.string), self.variant(reverse=True)
    ids, starts, ends = self.ids.tokenize_with_offsets(first)
    pieces, piece_starts, piece_ends = marked.tokenize_with_offsets(second)
    back = reverse.tokenize(second)
    size = self.ids.vocab_size()
    return {"ids": ids.flat_values, "splits": ids.row_splits, "starts": starts.flat_values,
            "ends": ends.flat_values, "pieces": pieces.flat_values,
            "piece_starts": piece_starts.flat_values, "piece_ends": piece_ends.flat_values,
            "marked": marked.tokenize(first).flat_values,
            "reversed": back.flat_values, "size": size,
            "texts": self.ids.detokenize(ids), "texts_marked": marked.detokenize(pieces),
            "texts_reversed": reverse.detokenize(back),
            "names": self.ids.id_to_string(tf.range(size)),
            "known": self.ids.string_to_id(first)}


class Best(Pieces):
  """The best segmentations of each text."""

  def run(self, first: tf.Tensor, second: tf.Tensor) -> dict[str, tf.Tensor]:
    few = self.variant(nbest_size=7, return_nbest=True, out_type=tf.string)
    bare = self.variant(nbest_size=3, return_nbest=True, add_bos=False, add_eos=False)
    many = self.variant(nbest_size=5000, return_nbest=True, reverse=True)
    one = self.variant(nbest_size=1, return_nbest=True)
    pieces, starts, ends = few.tokenize_with_offsets(first)
    ids = bare.tokenize(second)
    # Long texts have 1,024; of these, a sum stands for each.
    rows = many.tokenize(tf.concat([first[:2], first[-2:-1]], 0))
    # In a text as long as this, SentencePiece forgets most ends that it has found.
    longest = self.variant(nbest_size=64, return_nbest=True).tokenize(
        tf.constant([PROSE.replace("\n", " ") * 8]))

    def sums(rows: tf.RaggedTensor) -> tf.Tensor:
      places = tf.cast(tf.ragged.range(rows.row_lengths()), tf.int32)
      return tf.reduce_sum((places + 1) * rows, 1)

    return {"pieces": pieces.flat_values, "splits": pieces.row_splits,
            "starts": starts.flat_values, "ends": ends.flat_values,
            "ids": ids.flat_values, "id_splits": ids.row_splits,
            "sums": sums(rows), "sizes": rows.row_lengths(), "longest": sums(longest),
            "one": one.tokenize(second).flat_values}


class BytePairs(tf.Module):
  """KerasHub's byte-pair tokenizer, which keeps the words that it has met in tables."""

  def __init__(self) -> None:
    super().__init__()
    # pylint: disable=import-outside-toplevel
    from keras_hub.src.tokenizers import byte_pair_tokenizer as byte_pair
    _, letters = byte_pair.bytes_to_unicode()
    merges = ["t h", "th e", "Ġ the", "o w", "o v", "ov er", "Ġ d", "e r", "er n", "i n", "in g",
              "Ã ©", "Ð ¾", "Ġ Ð"]
    pieces = letters + [m.replace(" ", "") for m in merges]
    self.tokenizer = byte_pair.BytePairTokenizer(
        vocabulary={piece: i for i, piece in enumerate(pieces)}, merges=merges,
        sequence_length=96)

  def run(self, first: tf.Tensor, second: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"ids": self.tokenizer(tf.concat([first, second], 0))}


class Offsets(tf.Module):
  """Normalized texts, and the places of all their bytes in the texts before."""

  def run(self, first: tf.Tensor, second: tf.Tensor) -> dict[str, tf.Tensor]:
    outputs = {"folded": text.case_fold_utf8(second)}
    for form in ("NFC", "nfd", "NFKC", "nfkd"):
      normal, edits = text.normalize_utf8_with_offsets_map(first, form)
      places = tf.ragged.range(tf.cast(tf.strings.length(normal), tf.int64) + 1)
      outputs[form] = normal
      outputs[form + "_places"] = text.find_source_offsets(edits, places).flat_values
    return outputs


class Sentences(tf.Module):
  """Sentences of texts, and of their words and punctuation."""

  def run(self, first: tf.Tensor, second: tf.Tensor) -> dict[str, tf.Tensor]:
    found, starts, ends = text.StateBasedSentenceBreaker().break_sentences_with_offsets(first)
    words = tf.strings.split(tf.strings.regex_replace(second, r"([[:punct:]])", r" \1 "))
    zeros = tf.zeros_like(words, tf.int64)
    begins, limits, properties, marks = text.sentence_fragments(words, zeros, zeros, zeros)
    return {"found": found.flat_values, "splits": found.row_splits, "starts": starts.flat_values,
            "ends": ends.flat_values, "begins": begins.flat_values, "limits": limits.flat_values,
            "properties": properties.flat_values, "marks": marks.flat_values}


MODELS = {"offsets": Offsets, "sentences": Sentences,
          "bert": lambda: Bert(False), "fast_bert": lambda: Bert(True),
          "unigram": lambda: Pieces(model_type="unigram", vocab_size=320),
          "bpe": lambda: Pieces(model_type="bpe", vocab_size=700, character_coverage=0.98, byte_fallback=True,
                                normalization_rule_name="identity",
                                user_defined_symbols=["[MASK]", "abc"]),
          "bare": lambda: Pieces(  # nothing is normalized
              model_type="unigram", vocab_size=320, add_dummy_prefix=False,
              remove_extra_whitespaces=False, normalization_rule_name="identity",
              user_defined_symbols=["ing"]),
          "suffix": lambda: Pieces(model_type="bpe", vocab_size=320,
                                   treat_whitespace_as_suffix=True,
                                   normalization_rule_name="nfkc_cf"),
          "byte_pairs": BytePairs,
          "best": lambda: Best(model_type="unigram", vocab_size=320, normalization_rule_name="identity",
                               user_defined_symbols=["ing", "the q"]),
          "words": lambda: Pieces(model_type="word", vocab_size=150,
                                  normalization_rule_name="identity"),
          "characters": lambda: Pieces(model_type="char", vocab_size=120,
                                       normalization_rule_name="identity")}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", type=pathlib.Path, required=True)
  parser.add_argument("names", nargs="*", default=list(MODELS))
  args = parser.parse_args()
  for name in args.names or MODELS:
    model = MODELS[name]()
    target = control_models.fresh(args.out, name)
    # Not a function of the module, which would be saved too.
    run = tf.function(model.run, input_signature=[
        tf.TensorSpec([None], tf.string, name) for name in ("first", "second")])
    tf.saved_model.save(model, target / "saved_model", run.get_concrete_function())
    for suffix, lines in [("", LINES), ("_one", LINES[:1]), ("_none", [])]:
      if not lines and name == "offsets":
        continue  # TensorFlow Text crashes
      first = np.array(lines, object)
      inputs = {"first": first, "second": first[::-1]}
      outputs = run(*[tf.constant(v, tf.string) for v in inputs.values()])
      control_models.save(
          target, suffix, {k: v.astype(np.bytes_) for k, v in inputs.items()},
          {k: np.asarray(v.numpy(), np.bytes_ if v.dtype == tf.string else None)
           for k, v in outputs.items()})
    print(name, outputs.keys())
  return 0


if __name__ == "__main__":
  sys.exit(main())
