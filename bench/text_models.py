#!/usr/bin/env python3
"""Writes the models of bench/text.py: TensorFlow Text's tokenizers, and BERT with its preprocessor.

  bench/text_models.py DIR

Each DIR/NAME is a SavedModel that takes `texts`, a vector of strings. DIR/texts.npz
has texts in 16 languages. Vocabularies come from these and from the pages in docs/.
"""

from __future__ import annotations

import io
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "makers"))

# pylint: disable=wrong-import-position
import text_models as small  # sets the environment before TensorFlow is imported
import numpy as np
import sentencepiece
import tensorflow as tf
import tensorflow_text as text

PAGES = sorted((HERE.parent / "docs").glob("*.md"))
LENGTH, WIDTH, HEADS, LAYERS = 64, 128, 2, 2  # of BERT, the sizes of BERT-tiny


def pieces(kind: str) -> text.SentencepieceTokenizer:
  """SentencePiece with 4,000 pieces of the pages."""
  lines = [line for page in PAGES
           for line in page.read_text(encoding="utf-8").splitlines()]
  model = io.BytesIO()
  sentencepiece.SentencePieceTrainer.train(
      sentence_iterator=iter(lines + small.SENTENCES[:21]), model_writer=model,
      minloglevel=2, num_threads=1, model_type=kind, vocab_size=4000,
      hard_vocab_limit=False)
  return text.SentencepieceTokenizer(model=model.getvalue())


def bert_tokenizer(folder: pathlib.Path) -> text.BertTokenizer:
  path = folder / "vocabulary.txt"
  path.write_text("\n".join(small.vocabulary()) + "\n", encoding="utf-8")
  return text.BertTokenizer(str(path), token_out_type=tf.int32, lower_case=True)


def flat(ragged: tf.RaggedTensor) -> dict[str, tf.Tensor]:
  result = {"values": ragged.flat_values}
  result.update({f"splits_{i}": s for i, s in enumerate(ragged.nested_row_splits)})
  return result


class Bert(tf.Module):
  """Texts to two logits each: the tokenizer, padding, and two layers of BERT-tiny."""

  def __init__(self, folder: pathlib.Path) -> None:
    super().__init__()
    rng = np.random.default_rng(7)

    def weights(*shape: int) -> tf.Variable:
      return tf.Variable(rng.normal(0, shape[0] ** -0.5, shape), dtype=tf.float32)

    self.tokenizer = bert_tokenizer(folder)
    self.words = weights(len(small.vocabulary()), WIDTH)
    self.places = weights(LENGTH, WIDTH)
    self.layers = [[weights(WIDTH, 3 * WIDTH), weights(WIDTH, WIDTH),
                    weights(WIDTH, 4 * WIDTH), weights(4 * WIDTH, WIDTH)]
                   for _ in range(LAYERS)]
    self.head = weights(WIDTH, 2)

  def run(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
    words = self.tokenizer.tokenize(texts).merge_dims(-2, -1)
    trimmed = text.RoundRobinTrimmer(LENGTH - 2).trim([words])
    whole, _ = text.combine_segments(trimmed, 2, 3)
    ids, mask = text.pad_model_inputs(whole, LENGTH)
    norm = small.Encoder.norm
    x = norm(tf.gather(self.words, ids) + self.places)
    bias = (1.0 - tf.cast(mask, tf.float32)[:, None, None]) * -1e9
    for qkv, out, up, down in self.layers:
      h = tf.reshape(tf.tensordot(x, qkv, 1), (-1, LENGTH, 3, HEADS, WIDTH // HEADS))
      q, k, v = tf.unstack(tf.transpose(h, (2, 0, 3, 1, 4)))
      scores = tf.matmul(q, k, transpose_b=True) * (WIDTH // HEADS) ** -0.5
      a = tf.matmul(tf.nn.softmax(scores + bias), v)
      a = tf.reshape(tf.transpose(a, (0, 2, 1, 3)), (-1, LENGTH, WIDTH))
      x = norm(x + tf.tensordot(a, out, 1))
      x = norm(x + tf.tensordot(tf.nn.gelu(tf.tensordot(x, up, 1)), down, 1))
    return {"logits": tf.tensordot(x[:, 0], self.head, 1)}


class Tokens(tf.Module):
  """A tokenizer, or another function of TensorFlow Text that gives ragged tokens."""

  def __init__(self, tokenizer) -> None:
    super().__init__()
    self.tokenizer = tokenizer

  def run(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
    split = getattr(self.tokenizer, "tokenize", self.tokenizer)
    return flat(split(texts))


class Normalized(tf.Module):
  def run(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"normalized": text.normalize_utf8(text.case_fold_utf8(texts), "NFKC")}


def main() -> int:
  out = pathlib.Path(sys.argv[1])
  out.mkdir(parents=True, exist_ok=True)
  makers = {
      "bert_tokenizer": lambda: Tokens(bert_tokenizer(out)),
      "fast_bert_tokenizer": lambda: Tokens(text.FastBertTokenizer(
          small.vocabulary(), token_out_type=tf.int32,
          lower_case_nfd_strip_accents=True)),
      "unigram": lambda: Tokens(pieces("unigram")),
      "bpe": lambda: Tokens(pieces("bpe")),
      "normalize": Normalized,
      "regex_split": lambda: Tokens(lambda texts: text.regex_split(
          texts, r"[\s.,:;!?]+", r"[.,:;!?]")),
      "whitespace": lambda: Tokens(text.WhitespaceTokenizer()),
      "unicode_script": lambda: Tokens(text.UnicodeScriptTokenizer()),
      "bert": lambda: Bert(out)}
  for name, make in makers.items():
    module = make()
    run = tf.function(module.run, input_signature=[
        tf.TensorSpec([None], tf.string, "texts")])
    tf.saved_model.save(module, str(out / name), run.get_concrete_function())
    print(name, flush=True)
  sentences = [s for s in small.SENTENCES[:21] if isinstance(s, str)]
  texts = [f"{sentences[i % len(sentences)]} {sentences[(7 * i + 3) % len(sentences)]}"
           for i in range(1024)]
  np.savez(out / "texts.npz", texts=np.array([t.encode() for t in texts]))
  return 0


if __name__ == "__main__":
  sys.exit(main())
