"""Tests tenon quantize --weights with plain text, which a tokenizer in a graph splits."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

from support import MODELS, const, op, tenon

F32, I32, I64, BOOL = ("type: " + t for t in ("DT_FLOAT", "DT_INT32", "DT_INT64", "DT_BOOL"))
TEXT = "The mill stands by the river; its wheel turns, été comme hiver."
TOKENIZERS = MODELS / "tokenizers"
DECODER = MODELS / "generate" / "variables"
BYTES = f"{DECODER}:tokenize"  # a token is a byte; takes a scalar
Inputs = dict[str, np.ndarray]


def placeholder(name: str, dtype: str, *shape: int) -> str:
  dims = " ".join(f"dim {{ size: {n} }}" for n in shape)
  return op(name, "Placeholder", "", dtype=dtype, shape=f"shape {{ {dims} }}")


def language_model(vocabulary: int = 256, batch: int = -1, length: int = -1, places: int = 0,
                   extra: str = "") -> str:
  """A token is predicted from the sum of all before it. With `places`, also from positions and
  token types, over the number of tokens that the mask leaves."""
  random = np.random.default_rng(3)
  uniform = lambda *shape: random.uniform(-1, 1, shape).astype(np.float32)
  gather = {"Tparams": F32, "Tindices": I32, "Taxis": I32}
  nodes = [
      placeholder("tokens", I32, batch, length), const("embedding", uniform(vocabulary, 32)),
      const("zero", np.int32(0)), const("one", np.int32(1)),
      op("words", "GatherV2", "embedding tokens zero", **gather),
      op("x0", "Cumsum", "words one", T=F32, Tidx=I32)]
  last = "x0"
  if places:
    nodes += [
        placeholder("position_ids", I32, batch, length),
        placeholder("token_type_ids", I64, batch, length),
        placeholder("attention_mask", BOOL, batch, length),
        const("places", uniform(places, 32)), const("types", uniform(2, 32)),
        op("place", "GatherV2", "places position_ids zero", **gather),
        op("type", "GatherV2", "types token_type_ids zero", **{**gather, "Tindices": I64}),
        op("x1", "AddV2", "x0 place", T=F32), op("x2", "AddV2", "x1 type", T=F32),
        op("mask", "Cast", "attention_mask", SrcT=BOOL, DstT=F32),
        op("count", "Sum", "mask one", T=F32, Tidx=I32, keep_dims="b: true"),
        op("counts", "ExpandDims", "count one", T=F32, Tdim=I32),
        op("x3", "RealDiv", "x2 counts", T=F32)]
    last = "x3"
  if extra:
    nodes += [placeholder(extra, F32), op("x4", "Mul", f"{last} {extra}", T=F32)]
    last = "x4"
  nodes.append(op("logits", "BatchMatMulV2", f"{last} embedding", T=F32, adj_y="b: true"))
  return "".join(nodes)


class QuantizeTextTest(unittest.TestCase):
  """The perplexity is that of NumPy, from the logits of the same rows."""

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.model, self.output = self.scratch / "model.pbtxt", self.scratch / "small.pb"
    self.text = self.scratch / "text.txt"
    self.text.write_text(TEXT, "utf-8")

  def quantize(self, *words: object, text: object = None,
               tokenizer: object = BYTES) -> subprocess.CompletedProcess:
    self.output.unlink(missing_ok=True)
    more = ["--tokenizer", tokenizer] if tokenizer else []
    return tenon("quantize", self.model, "--output", self.output, "--weights", "int8",
                 "--text", text or self.text, *more, *words)

  def scores(self, *words: object, **files: object) -> tuple[float, float, int]:
    """The report's: before, after, number of tokens."""
    done = self.quantize(*words, **files)
    self.assertEqual(done.returncode, 0, done.stderr)
    found = re.search(r"^perplexity: (\S+) in fp32, (\S+) with int8 weights, over (\d+) "
                      "predicted tokens$", done.stdout, re.MULTILINE)
    self.assertIsNotNone(found, done.stdout)
    return float(found[1]), float(found[2]), int(found[3])

  def logits(self, model: pathlib.Path, inputs: Inputs) -> np.ndarray:
    given, out = self.scratch / "in.npz", self.scratch / "out.npz"
    np.savez(given, **inputs)
    done = tenon("run", model, "--inputs", given, "--outputs", out)
    self.assertEqual(done.returncode, 0, done.stderr)
    with np.load(out) as arrays:
      return next(arrays[k] for k in arrays.files if "logits" in k).astype(np.float64)

  def expected(self, *rows: tuple[Inputs, int]) -> tuple[float, float, int]:
    """From inputs of one row each, and how many of its tokens count."""
    results = []
    for model in (self.model, self.output):
      losses = []
      for inputs, count in rows:
        x = self.logits(model, inputs)[0, :count - 1]
        x -= x.max(-1, keepdims=True)
        x -= np.log(np.exp(x).sum(-1, keepdims=True))
        losses += list(-x[np.arange(count - 1), inputs["tokens"][0, 1:count]])
      results.append(float(np.exp(np.mean(losses))))
    return results[0], results[1], len(losses)

  def assert_scores(self, got: tuple[float, float, int], want: tuple[float, float, int]) -> None:
    self.assertEqual(got[2], want[2])
    np.testing.assert_allclose(got[:2], want[:2], rtol=1e-5)
    self.assertGreater(abs(got[0] - got[1]), 1e-4 * got[0])  # the second one is of other weights

  @staticmethod
  def rows(ids: list[int], length: int) -> list[tuple[Inputs, int]]:
    return [({"tokens": np.array([ids[i:i + length]], np.int32)}, len(ids[i:i + length]))
            for i in range(0, len(ids), length)]

  def raw_tokenizer(self) -> pathlib.Path:
    """[texts] to bytes [texts, tokens]."""
    path = self.scratch / "raw.pbtxt"
    path.write_text(
        placeholder("text", "type: DT_STRING", -1) +
        op("bytes", "DecodeRaw", "text", out_type="type: DT_UINT8") +
        op("ids", "Cast", "bytes", SrcT="type: DT_UINT8", DstT=I32))
    return path

  def test_rows_and_a_shorter_one(self) -> None:
    self.model.write_text(language_model())
    ids = list(TEXT.encode())
    for length in (16, len(ids), len(ids) - 1, 1000):
      with self.subTest(length=length):
        got = self.scores("--length", length)
        rows = [row for row in self.rows(ids, length) if row[1] > 1]
        self.assert_scores(got, self.expected(*rows))
    self.assertEqual(self.scores()[2], len(ids) - 1)

  def test_same_as_arrays(self) -> None:
    self.model.write_text(language_model())
    ids = (list(TEXT.encode()) * 3)[:9 * 16]
    self.text.write_bytes(bytes(ids))
    arrays = self.scratch / "text.npz"
    np.savez(arrays, tokens=np.array(ids, np.int32).reshape(9, 16))
    want = self.scores("--batch", 4, text=arrays, tokenizer=None)
    self.assertEqual(want[2], 9 * 15)
    for tokenizer in (BYTES, self.raw_tokenizer()):
      self.assertEqual(self.scores("--length", 16, "--batch", 4, tokenizer=tokenizer), want)
    self.assert_scores(self.scores("--length", 16), want)

  def test_derived_inputs_and_padding(self) -> None:
    ids, length = list(TEXT.encode()), 18
    self.assertGreater(len(ids) % length, 1)  # the last row is padded
    for batch in (-1, 3):
      with self.subTest(batch=batch):
        self.model.write_text(language_model(length=length, places=length, batch=batch))
        got = self.scores()
        rows = []
        for row, count in self.rows(ids, length):
          inputs = {"tokens": np.zeros((1, length), np.int32),
                    "position_ids": np.arange(length, dtype=np.int32)[None],
                    "token_type_ids": np.zeros((1, length), np.int64),
                    "attention_mask": np.arange(length)[None] < count}
          inputs["tokens"][0, :count] = row["tokens"]
          # One row at a time; a fixed batch repeats it.
          rows.append(({k: np.repeat(v, max(batch, 1), 0) for k, v in inputs.items()}, count))
        self.assert_scores(got, self.expected(*rows))
        self.assertEqual(got[2], len(ids) - len(rows))

  def test_bytes_that_are_no_text(self) -> None:
    self.model.write_text(language_model())
    ids = [0xff, 0xfe, 0, 0xc3, 0x28, 0x80, 10, 0xe2, 0x82]
    self.text.write_bytes(bytes(ids))
    self.assert_scores(self.scores(), self.expected(*self.rows(ids, 512)))

  def test_ragged_ids(self) -> None:
    """Values, with their row splits as another output."""
    tokenizer = self.scratch / "characters.pbtxt"
    tokenizer.write_text(
        placeholder("text", "type: DT_STRING", 1) +
        op("characters", "UnicodeDecode", "text", input_encoding='s: "UTF-8"',
           errors='s: "replace"', Tsplits=I64))
    self.model.write_text(language_model())
    for text in (TEXT, "é!"):  # of the latter, the splits look like two tokens
      self.text.write_text(text, "utf-8")
      got = self.scores(tokenizer=tokenizer)
      self.assert_scores(got, self.expected(*self.rows([ord(c) for c in text], 512)))

  def test_tokenizers_of_libraries(self) -> None:
    """The ids are those of TensorFlow: ragged, [texts, tokens], and beside other integers."""
    expected = json.loads((TOKENIZERS / "expected.json").read_text())
    self.text.write_text(expected["text"], "utf-8")
    self.model.write_text(language_model(400))
    for name, ids in expected["ids"].items():
      with self.subTest(tokenizer=name):
        got = self.scores("--length", 20, tokenizer=TOKENIZERS / name)
        self.assert_scores(got, self.expected(*self.rows(ids, 20)))

  def test_a_decoder_with_a_cache(self) -> None:
    """A step that takes the position of the first token; later rows do not see earlier ones."""
    self.model, self.output = DECODER, self.scratch / "small"  # with a variable
    ids = list(TEXT.encode())
    before, _, count = self.scores("--length", 16, "--least-weights", 0)
    losses = []
    for row, size in self.rows(ids, 16):
      x = self.logits(DECODER, {"input_ids": row["tokens"], "position": np.int32(0)})[0, :-1]
      losses += list(np.log(np.exp(x).sum(-1)) - x[np.arange(size - 1), row["tokens"][0, 1:]])
    self.assertEqual(count, len(losses))
    np.testing.assert_allclose(before, np.exp(np.mean(losses)), rtol=1e-5)

  def test_refused(self) -> None:
    arrays, folder, pipe, empty, short = (
        self.scratch / name for name in ("a.npz", "folder", "pipe", "empty", "short"))
    np.savez(arrays, tokens=np.zeros((2, 4), np.int32))
    folder.mkdir()
    os.mkfifo(pipe)
    empty.touch()
    short.write_text("a")
    several = self.scratch / "several.pbtxt"
    several.write_text(self.raw_tokenizer().read_text() +
                       op("more", "Cast", "bytes", SrcT="type: DT_UINT8", DstT=I64))
    plain = language_model()
    missing = self.scratch / "missing"
    cases: list[tuple[str, dict[str, object], tuple[object, ...], str]] = [
        (plain, {"tokenizer": None}, (), f"{self.text} is plain text"),
        (plain, {"text": arrays}, (), "--tokenizer is for plain text"),
        (plain, {"text": arrays, "tokenizer": None}, ("--length", 4), "--length is for plain text"),
        (plain, {}, ("--length", 1), "--length"),
        (plain, {"text": missing}, (), str(missing)), (plain, {"text": folder}, (), str(folder)),
        (plain, {"text": pipe}, (), str(pipe)), (plain, {"text": empty}, (), f"{empty} is empty"),
        (plain, {"text": short}, (), f"{short} has 1 tokens"),
        (plain, {"tokenizer": missing}, (), f"--tokenizer: {missing}"),
        (plain, {"tokenizer": BYTES + "r"}, (), "tokenizer"),
        (plain, {"tokenizer": MODELS / "text/bpe/saved_model"}, (), "has 2 inputs"),
        (plain, {"tokenizer": several}, (), "several outputs of integers"),
        (plain, {"tokenizer": f"{DECODER}:detokenize"}, (), "no tokenizer"),
        (plain, {"tokenizer": MODELS / "generate/loop"}, (), "gives no integers"),
        (language_model(extra="scale"), {}, (), "input 'scale' does not follow from a text"),
        (language_model(length=16), {}, ("--length", 8), "rows of 16 tokens, not of 8"),
        (language_model(batch=2), {}, ("--batch", 3), "batches of 2, not 3"),
        (language_model(length=1), {}, (), "predict nothing"),
        (language_model(150), {}, (), "not in [0, 150)"),
        (language_model(places=20), {}, (), "not in [0, 20)"),
        (plain, {}, ("--tokens", "t"), "no input 't'"), (plain, {}, ("--logits", "z"), "'z'")]
    for model, files, words, message in cases:
      with self.subTest(message=message):
        self.model.write_text(model)
        done = self.quantize(*words, **files)
        self.assertGreater(done.returncode, 0, done.stdout)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse(self.output.exists())

  def test_options_that_need_others(self) -> None:
    self.model.write_text(language_model())
    for words, message in (
        (("--weights", "int8", "--tokenizer", BYTES), "--tokenizer needs --text"),
        (("--weights", "int8", "--length", 8), "--length needs --text"),
        (("--text", self.text, "--tokenizer", BYTES), "--text needs --weights")):
      done = tenon("quantize", self.model, "--output", self.output, *words)
      self.assertEqual(done.returncode, 1, done.stdout)
      self.assertIn(message, done.stderr)
