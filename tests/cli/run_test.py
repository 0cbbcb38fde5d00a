"""Tests tenon run: results, the disk cache, errors."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import parity
import support
from support import LARGE, MODELS, model_cases, tenon


class RunTest(unittest.TestCase):
  """tenon run."""

  def check_model(self, folder: pathlib.Path, suffix: str, words: list[str],
                  gate: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "out.npz"
      done = tenon("run", *words, "--inputs", folder / f"inputs{suffix}.npz",
                   "--outputs", out, gate=gate)
      self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(out) as arrays:
        got = dict(arrays)
    with np.load(folder / f"outputs{suffix}.npz") as arrays:
      wanted = dict(arrays)
    self.assertEqual(set(got), set(wanted))
    limit = LARGE
    if folder.name in parity.DEPTH:
      limit = parity.tolerance(folder.name)
    for key, reference in wanted.items():
      self.assertEqual(got[key].dtype, reference.dtype)
      self.assertEqual(got[key].shape, reference.shape)
      if reference.dtype.kind == "S":
        np.testing.assert_array_equal(got[key], reference)
        continue
      difference = np.abs(got[key].astype("f8") - reference).max()
      self.assertLessEqual(difference, limit * np.abs(reference).max())

  def test_models_agree_with_tensorflow(self) -> None:
    cases = model_cases()
    self.assertGreater(len(cases), 20)
    for label, folder, suffix, words in cases:
      for gate in ("1", "0"):
        with self.subTest(label, gate=gate):
          self.check_model(folder, suffix, words, gate)

  def test_threads_and_gate_spellings(self) -> None:
    folder = MODELS / "mlp"
    for gate in ("true", "false"):
      with self.subTest(gate):
        self.check_model(folder, "", [str(folder / "saved_model"),
                                      "--threads", "1"], gate)

  def test_bfloat16(self) -> None:
    folder = MODELS / "digits"
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "out.npz"
      done = tenon("run", folder / "saved_model", "--inputs",
                   folder / "inputs.npz", "--outputs", out,
                   "--precision", "bf16")
      self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(out) as got, np.load(folder / "outputs.npz") as wanted:
        for key in wanted.files:
          self.assertEqual(got[key].dtype, wanted[key].dtype)
          np.testing.assert_allclose(
              got[key], wanted[key], atol=0.02 * np.abs(wanted[key]).max())
    done = tenon("run", folder / "saved_model", "--precision", "fp12")
    self.assertGreater(done.returncode, 0)
    self.assertIn("--precision", done.stderr)

  def test_fpmath_mode_is_the_default_precision(self) -> None:
    folder = MODELS / "digits"
    results = []
    with tempfile.TemporaryDirectory() as scratch:
      for words, mode in (([], "bf16"), (["--precision", "bf16"], ""),
                          (["--precision", "fp32"], "BF16"), ([], "STRICT")):
        out = pathlib.Path(scratch) / "out.npz"
        done = tenon("run", folder / "saved_model", "--inputs",
                     folder / "inputs.npz", "--outputs", out, *words,
                     TF_SET_ONEDNN_FPMATH_MODE=mode)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(out) as file:
          results.append(b"".join(file[k].tobytes() for k in file.files))
    self.assertEqual(results[0], results[1])
    self.assertEqual(results[2], results[3])
    done = tenon("run", folder / "saved_model", TF_SET_ONEDNN_FPMATH_MODE="F8")
    self.assertGreater(done.returncode, 0)
    self.assertIn("TF_SET_ONEDNN_FPMATH_MODE='F8'", done.stderr)

  def test_summary_without_outputs(self) -> None:
    done = tenon("run", MODELS / "mlp/saved_model", "--inputs",
                 MODELS / "mlp/inputs.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("output_0", done.stdout)
    self.assertLess(len(done.stdout.splitlines()), 40)

  def test_quiet_when_outputs_are_written(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      done = tenon("run", MODELS / "mlp/saved_model", "--inputs",
                   MODELS / "mlp/inputs.npz", "--outputs",
                   pathlib.Path(scratch) / "out.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(done.stderr, "")

  def test_fetch_by_tensor_name(self) -> None:
    folder = MODELS / "loader" / "frozen_mlp"
    with np.load(folder / "outputs.npz") as arrays:
      name, wanted = next(iter(arrays.items()))
    with tempfile.TemporaryDirectory() as scratch:
      out = pathlib.Path(scratch) / "out.npz"
      done = tenon("run", folder / "graph.pb", "--inputs",
                   folder / "inputs.npz", "--outputs", out, "--fetch", name)
      self.assertEqual(done.returncode, 0, done.stderr)
      with np.load(out) as arrays:
        self.assertEqual(list(arrays), [name])
        np.testing.assert_allclose(arrays[name], wanted, 1e-5, 1e-5)


class CacheDirTest(unittest.TestCase):
  """run and bench --cache-dir."""

  MODEL = MODELS / "resnet50"

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.cache = self.scratch / "some" / "cache"

  def words(self, name: str) -> list:
    return ["run", self.MODEL / "saved_model", "--inputs",
            self.MODEL / "inputs.npz", "--threads", 1, "--outputs",
            self.scratch / f"{name}.npz"]

  def result(self, name: str) -> bytes:
    with np.load(self.scratch / f"{name}.npz") as arrays:
      return b"".join(a.tobytes() for a in arrays.values())

  def test_second_start(self) -> None:
    self.assertEqual(tenon(*self.words("without")).returncode, 0)
    for name in ("first", "second"):
      done = tenon(*self.words(name), "--cache-dir", self.cache)
      self.assertEqual((done.returncode, done.stderr), (0, ""))
      self.assertEqual(self.result(name), self.result("without"))
      self.assertEqual(len(list(self.cache.iterdir())), 1)
    done = tenon("bench", self.MODEL / "saved_model", "--seconds", 0.05,
                 "--inputs", self.MODEL / "inputs.npz", "--json",
                 TENON_CACHE_DIR=str(self.cache))
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(json.loads(done.stdout)["rewrite_ms"], 0)

  def test_list_and_clear(self) -> None:
    done = tenon(*self.words("out"), "--cache-dir", self.cache)
    self.assertEqual(done.returncode, 0, done.stderr)
    (self.cache / "notes.txt").write_text("mine")
    done = tenon("cache", "--cache-dir", self.cache)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("1 files, ", done.stdout)
    done = tenon("cache", "--clear", TENON_CACHE_DIR=str(self.cache))
    self.assertEqual((done.returncode, done.stdout), (0, "1 files deleted\n"))
    self.assertEqual([p.name for p in self.cache.iterdir()], ["notes.txt"])
    for words in (["cache", "--cache-dir", self.scratch / "nowhere"],
                  ["cache"]):
      done = tenon(*words, TENON_CACHE_DIR="")
      self.assertEqual((done.returncode, done.stdout), (1, ""))
      self.assertTrue(done.stderr.startswith("tenon: "), done.stderr)

  def test_processes_at_once(self) -> None:
    self.assertEqual(tenon(*self.words("without")).returncode, 0)
    names = [f"p{i}" for i in range(4)]
    running = [subprocess.Popen([support.TENON, *map(str, self.words(n)),
                                 "--cache-dir", self.cache],
                                stderr=subprocess.PIPE, text=True)
               for n in names]
    for name, process in zip(names, running):
      _, errors = process.communicate(timeout=300)
      self.assertEqual((process.returncode, errors), (0, ""))
      self.assertEqual(self.result(name), self.result("without"))
    self.assertEqual([p.suffix for p in self.cache.iterdir()], [".tenon"])

  def test_a_folder_that_cannot_be_written(self) -> None:
    done = tenon(*self.words("out"), "--cache-dir", "/proc/version/cache")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("nothing is kept for the next start", done.stderr)
    if os.geteuid() == 0:  # may write everywhere
      return
    self.cache.mkdir(parents=True)
    self.cache.chmod(0o500)
    done = tenon(*self.words("out"), "--cache-dir", self.cache)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("nothing is kept for the next start", done.stderr)


class ErrorTest(unittest.TestCase):
  """A mistake gives a non-zero exit status and one clear line."""

  def check(self, done: subprocess.CompletedProcess, *parts: str) -> None:
    self.assertGreater(done.returncode, 0,
                       f"status {done.returncode} (negative: a signal)")
    self.assertLess(done.returncode, 128)
    lines = done.stderr.strip().splitlines()
    self.assertEqual(len(lines), 1, done.stderr)
    for part in parts:
      self.assertIn(part, lines[0])

  def run_with(self, arrays: dict, model: str = "mlp",
               *words: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as scratch:
      inputs = pathlib.Path(scratch) / "in.npz"
      np.savez(inputs, **arrays)
      return tenon("run", MODELS / model / "saved_model", "--inputs", inputs,
                   *words)

  def test_no_such_model(self) -> None:
    self.check(tenon("run", "/no/such/model"), "/no/such/model")

  def test_no_such_inputs(self) -> None:
    self.check(tenon("run", MODELS / "mlp/saved_model", "--inputs",
                     "/no/such.npz"), "/no/such.npz")

  def test_not_a_model(self) -> None:
    self.check(tenon("run", MODELS / "README.md"), "README.md")

  def test_missing_input(self) -> None:
    self.check(self.run_with({"mask": np.ones((1, 4), np.int32)}, "bert4"),
               "segment_ids")

  def test_unknown_input(self) -> None:
    with np.load(MODELS / "mlp/inputs.npz") as arrays:
      self.check(self.run_with({**arrays, "feature": np.ones(1)}), "feature")

  def test_wrong_dtype(self) -> None:
    self.check(self.run_with({"features": np.ones((1, 16), np.int32)}),
               "features")

  def test_wrong_shape(self) -> None:
    self.check(self.run_with({"features": np.ones((1, 15), np.float32)}))

  def test_wrong_rank(self) -> None:
    self.check(self.run_with({"image": np.ones((32, 32, 3), np.float32)},
                             "resnet50"))

  def test_ids_out_of_range(self) -> None:
    with np.load(MODELS / "bert4/inputs.npz") as arrays:
      feeds = dict(arrays)
    feeds["token_ids"] = feeds["token_ids"] + 1000
    self.check(self.run_with(feeds, "bert4"))

  def test_unknown_signature(self) -> None:
    with np.load(MODELS / "mlp/inputs.npz") as arrays:
      self.check(self.run_with(dict(arrays), "mlp", "--signature", "nope"),
                 "nope", "serving_default")

  def test_unknown_fetch(self) -> None:
    with np.load(MODELS / "mlp/inputs.npz") as arrays:
      self.check(self.run_with(dict(arrays), "mlp", "--fetch", "nope:0"),
                 "nope")

  def test_bad_gate(self) -> None:
    for value in ("2", "yes"):
      with self.subTest(value):
        done = tenon("run", MODELS / "mlp/saved_model", "--inputs",
                     MODELS / "mlp/inputs.npz", gate=value)
        self.check(done, "TF_ENABLE_ONEDNN_OPTS")

  def test_broken_npz(self) -> None:
    with tempfile.TemporaryDirectory() as scratch:
      broken = pathlib.Path(scratch) / "in.npz"
      broken.write_bytes((MODELS / "mlp/inputs.npz").read_bytes()[:100])
      self.check(tenon("run", MODELS / "mlp/saved_model", "--inputs", broken))

  def test_unwritable_outputs(self) -> None:
    self.check(tenon("run", MODELS / "mlp/saved_model", "--inputs",
                     MODELS / "mlp/inputs.npz", "--outputs",
                     "/no/such/folder/out.npz"), "/no/such/folder")

  def test_usage(self) -> None:
    for words in ([], ["nope"], ["run"], ["run", "x", "--nope"]):
      with self.subTest(words):
        done = tenon(*words)
        self.assertGreater(done.returncode, 0)
        self.assertNotEqual(done.stderr + done.stdout, "")
