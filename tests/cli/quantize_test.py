"""Tests tenon generate and tenon quantize."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

from support import MODELS, const, op, tenon


class GenerateTest(unittest.TestCase):
  """tenon generate, on the decoders of tests/makers/generate_models.py."""

  FOLDER = MODELS / "generate"

  @classmethod
  def setUpClass(cls) -> None:
    cls.expected = json.loads((cls.FOLDER / "expected.json").read_text())
    cls.ids = ",".join(map(str, cls.expected["ids"]))
    cls.count = len(cls.expected["tokens"])

  def generate(self, model: str, *words: object, **more: object) -> dict:
    done = tenon("generate", self.FOLDER / model, "--json", "--max-tokens",
                 self.count, *words, **more)
    self.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)

  def test_both_kinds_of_cache_agree_with_tensorflow(self) -> None:
    for model in ("variables", "feedback"):
      for gate in ("0", "1"):
        with self.subTest(model=model, gate=gate):
          result = self.generate(model, "--ids", self.ids, gate=gate)
          self.assertEqual(result["tokens"], self.expected["tokens"])
          self.assertEqual(result["prompt"], self.expected["ids"])
          self.assertGreater(result["tokens_per_s"], 0)
          self.assertLessEqual(result["first_token_ms"], result["total_ms"])

  def test_a_loop_in_the_graph(self) -> None:
    result = self.generate("loop", "--prompt", self.expected["prompt"])
    (text,) = result["text"]  # bytes that are no text are shown as U+FFFD
    self.assertTrue(text.startswith(self.expected["prompt"]), text)
    self.assertGreater(len(text), len(self.expected["prompt"]))
    # Tokens cannot be counted in text; characters and the loop's steps can.
    self.assertNotIn("tokens", result)
    self.assertNotIn("tokens_per_s", result)
    self.assertGreater(result["new_characters"], 0)
    self.assertLessEqual(result["new_characters"], self.count)
    self.assertEqual(result["loop"]["steps"], self.count)
    self.assertGreater(result["loop"]["ms"], 0)
    self.assertLessEqual(result["loop"]["ms"], result["total_ms"])
    done = tenon("generate", self.FOLDER / "loop", "--prompt", self.expected["prompt"])
    self.assertRegex(done.stderr, r"^\d+ new characters in .* ms; 12 steps of 'S.*while' in "
                     r".* steps/s \(the model gives text: .* a --tokenizer\)\n$")

  def test_a_tokenizer_counts_the_tokens_of_text(self) -> None:
    result = self.generate("loop", "--prompt", self.expected["prompt"], "--tokenizer",
                           f"{self.FOLDER / 'variables'}:tokenize")
    self.assertEqual(result["prompt"], self.expected["ids"])
    self.assertEqual(result["tokens"], self.expected["tokens"])
    self.assertGreater(result["tokens_per_s"], 0)
    self.assertNotIn("new_characters", result)

  def test_a_mask_says_which_tokens_count(self) -> None:
    folder = MODELS / "steps/packages/llama_top_k"  # KerasHub's generate
    ids = np.load(folder / "feeds_serving_default.npz")["token_ids"][0, 1, :5]
    for gate in ("0", "1"):
      result = self.generate(folder / "saved_model", "--ids", ",".join(map(str, ids)), gate=gate)
      self.assertEqual(result["prompt"], ids.tolist())
      self.assertEqual(result["loop"]["steps"], len(result["tokens"]))
      self.assertLessEqual(len(result["tokens"]), 16 - len(ids))

  def test_text_through_tokenizers(self) -> None:
    model = self.FOLDER / "variables"
    result = self.generate("variables", "--prompt", self.expected["prompt"],
                           "--tokenizer", f"{model}:tokenize",
                           "--detokenizer", f"{model}:detokenize")
    self.assertEqual(result["prompt"], self.expected["ids"])
    self.assertEqual(result["tokens"], self.expected["tokens"])
    self.assertEqual(len(result["text"]), 1)

  def test_stops_and_streams(self) -> None:
    tokens = self.expected["tokens"]
    done = tenon("generate", self.FOLDER / "feedback", "--ids", self.ids,
                 "--stop", tokens[3], "--max-tokens", 50)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEqual(done.stdout, " ".join(map(str, tokens[:3])) + "\n")
    self.assertRegex(done.stderr, r"^3 tokens in .* the first after .* tokens/s")

  def test_sampling_repeats_with_its_seed(self) -> None:
    def draw(seed: int) -> list[int]:
      return self.generate("feedback", "--ids", self.ids, "--temperature", 2,
                           "--top-k", 50, "--seed", seed)["tokens"]
    self.assertEqual(draw(1), draw(1))
    self.assertNotEqual(draw(1), draw(2))

  def test_errors(self) -> None:
    model = self.FOLDER / "variables"
    for words, message in (
        (["--prompt", "a"], "give --ids, or a --tokenizer"),
        ([], "give either --prompt or --ids"),
        (["--ids", "1,x"], "'x' is not an integer"),
        (["--ids", "1", "--top-p", "0"], "top-p must be above 0"),
        (["--ids", "1", "--tokens-input", "z"], "no input 'z'"),
        (["--ids", "300"], "300"),
        (["--ids", "5000000000"], "does not fit into int32")):
      with self.subTest(words=words):
        done = tenon("generate", model, *words)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


class QuantizeTest(unittest.TestCase):
  """tenon quantize."""

  DIGITS = MODELS / "digits"

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.output = self.scratch / "int8.pb"

  def quantize(self, *words: object, model: pathlib.Path | None = None,
               data: pathlib.Path | None = None
               ) -> subprocess.CompletedProcess:
    return tenon("quantize", model or self.DIGITS / "saved_model", "--data",
                 data or self.DIGITS / "inputs.npz", "--output", self.output,
                 *words)

  def assert_refused(self, done: subprocess.CompletedProcess,
                     message: str) -> None:
    self.assertGreater(done.returncode, 0)
    self.assertIn(message, done.stderr)
    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
    self.assertEqual(list(self.scratch.glob("int8*")), [])

  def data(self, **arrays: np.ndarray) -> pathlib.Path:
    path = self.scratch / "data.npz"
    np.savez(path, **arrays)
    return path

  def outputs(self, model: pathlib.Path,
              inputs: pathlib.Path) -> dict[str, np.ndarray]:
    path = self.scratch / "outputs.npz"
    done = tenon("run", model, "--inputs", inputs, "--outputs", path)
    self.assertEqual(done.returncode, 0, done.stderr)
    with np.load(path) as arrays:
      return dict(arrays)

  def assert_agrees(self, folder: pathlib.Path, case: str = "") -> None:
    """The model's only output is close to TensorFlow's in float."""
    (got,) = self.outputs(self.output, folder / f"inputs{case}.npz").values()
    with np.load(folder / f"outputs{case}.npz") as arrays:
      (want,) = arrays.values()
    self.assertEqual(got.shape, want.shape)
    self.assertGreater(np.corrcoef(got.ravel(), want.ravel())[0, 1], 0.99, case)

  def renamed(self) -> str:
    """The rewritten graph."""
    text = tenon("dump", self.output, "--phase", "rename").stdout
    return text.split("# ---- after rename")[1]

  def test_digits_keep_their_accuracy(self) -> None:
    with np.load(self.DIGITS / "labels.npz") as arrays:
      labels = arrays["labels"]
    with np.load(self.DIGITS / "outputs.npz") as arrays:
      before = np.mean(arrays["output_0"].argmax(1) == labels)
    for method in ("error", "minmax", "percentile", "entropy"):
      done = self.quantize("--method", method, "--accuracy", "labels",
                           "--labels", self.DIGITS / "labels.npz")
      self.assertEqual(done.returncode, 0, done.stderr)
      self.assertEqual(done.stderr, "")
      (scores,) = self.outputs(self.output,
                               self.DIGITS / "inputs.npz").values()
      after = np.mean(scores.argmax(1) == labels)
      self.assertLessEqual(abs(before - after), 0.005, method)
      self.assertIn(f"top-1: {100 * before:.2f} % in fp32, "
                    f"{100 * after:.2f} % in int8", done.stdout)
      self.assertIn("6 of 6 layers in int8", done.stdout)

  def test_a_saved_model(self) -> None:
    results = []
    for name in ("int8.pb", "int8"):
      self.output = self.scratch / name
      done = self.quantize()
      self.assertEqual(done.returncode, 0, done.stderr)
      results.append(self.outputs(self.output, self.DIGITS / "inputs.npz"))
    self.assertEqual([p.name for p in self.output.iterdir()],
                     ["saved_model.pb"])
    # In a GraphDef, outputs are named after their tensors.
    (file,), (folder,) = (list(r.values()) for r in results)
    np.testing.assert_array_equal(file, folder)
    self.assertEqual(list(results[1]), ["output_0"])

  def test_integers_from_end_to_end(self) -> None:
    done = self.quantize()
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertNotIn(b"_Mkl", self.output.read_bytes())
    after = self.renamed()
    for op in ("Conv2D", "DepthwiseConv2dNative", "FusedConv2D", "MatMul",
               "FusedDepthwiseConv2dNative", "FusedMatMul", "MaxPool"):
      self.assertNotIn(f"= _MklNative{op}(", after)

  def test_resnet50(self) -> None:
    folder = MODELS / "resnet50"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assert_agrees(folder)

  def test_an_encoder(self) -> None:
    """Dense layers written as Einsum and broadcast products, with any length."""
    folder = MODELS / "bert4"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs_b2.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("14 of 14 layers in int8", done.stdout)
    for case in ("", "_b2", "_odd"):
      self.assert_agrees(folder, case)

  def test_pools_and_means_of_integers(self) -> None:
    folder = MODELS / "inceptionv3"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assert_agrees(folder)
    after = self.renamed()
    self.assertIn("= _MklNativeQuantizedAvgPool(", after)
    self.assertNotIn("= _MklNativeAvgPool(", after)

  def test_all_integer_ops_are_accelerated(self) -> None:
    for model, op in (("resnet50", "ScaledMean"),
                      ("densenet121", "FusedElementwiseToIntegers")):
      self.output = self.scratch / f"{model}.pb"
      done = self.quantize(model=MODELS / model / "saved_model",
                           data=MODELS / model / "inputs.npz")
      self.assertEqual(done.returncode, 0, done.stderr)
      after = self.renamed()
      self.assertIn(f"= _MklNative{op}(", after)
      self.assertNotIn(f"= _{op}(", after)

  def test_equalized_channels_keep_the_numbers(self) -> None:
    """The float model inside is the same: layers kept in fp32 show it."""
    with np.load(self.DIGITS / "outputs.npz") as arrays:
      want = arrays["output_0"]
    errors = {}
    for options in ((), ("--no-equalize",)):
      done = self.quantize(*options)
      self.assertEqual(done.returncode, 0, done.stderr)
      (got,) = self.outputs(self.output, self.DIGITS / "inputs.npz").values()
      errors[options] = np.abs(got - want).max() / np.abs(want).max()
      self.output.unlink()
    self.assertLess(errors[()], 0.05)
    self.assertLess(errors["--no-equalize",], 0.05)

  def test_swish_and_gates(self) -> None:
    """Zero points after swish; gates of squeeze-and-excite are equalized."""
    folder = MODELS / "efficientnetb0"
    done = self.quantize(model=folder / "saved_model",
                         data=folder / "inputs_b2.npz")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("quint8 -0.2", done.stdout)
    # Two images calibrate: what they compute is compared, no third one.
    self.assert_agrees(folder, "_b2")
    after = self.renamed()
    self.assertIn('fused_ops=["BiasAdd", "Sigmoid", "Mul"]', after)

  def test_layers_kept(self) -> None:
    done = self.quantize("--keep-first", "--keep-last", "--max-error", "100")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("fp32: the first layer", done.stdout)
    self.assertIn("fp32: the last layer", done.stdout)
    self.assertIn("4 of 6 layers in int8", done.stdout)
    done = self.quantize("--max-error", "0.8")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("fp32: its error is above 0.8 %", done.stdout)

  def test_bad_options(self) -> None:
    self.assert_refused(self.quantize("--method", "magic"), "magic")
    self.assert_refused(self.quantize("--batch", "0"), "batch")
    self.assert_refused(self.quantize("--keep", "nothing"), "'nothing'")
    self.assert_refused(self.quantize("--max-error", "0.002"),
                        "nothing to quantize")
    self.assert_refused(self.quantize("--accuracy", "labels"), "'labels'")
    self.assert_refused(
        self.quantize("--labels", self.DIGITS / "labels.npz"), "--accuracy")
    self.output = self.scratch / "folder"
    self.output.mkdir()
    (self.output / "mine").touch()
    self.assert_refused(self.quantize(), "exists already")

  def test_bad_data(self) -> None:
    with np.load(self.DIGITS / "inputs.npz") as arrays:
      image = arrays["image"]
    for arrays, message in (
        ({"picture": image}, "input 'image' is missing"),
        ({"image": image[:, :4]}, "image"),
        ({"image": image[..., 0]}, "image"),
        ({"image": image.astype(np.float64)}, "image"),
        ({"image": image[:0]}, "no samples"),
        ({"image": np.float32(1)}, "scalar"),
        ({"image": image * np.float32("nan")}, "NaN")):
      self.assert_refused(self.quantize(data=self.data(**arrays)), message)
    self.assert_refused(self.quantize(data=self.scratch / "none.npz"), "none")
    for labels in (np.zeros(3, int), np.zeros(len(image), np.float32)):
      data = self.data(image=image, labels=labels)
      self.assert_refused(self.quantize("--accuracy", "labels", data=data),
                          "labels")


class QuantizeWeightsTest(unittest.TestCase):
  """tenon quantize --weights."""

  def setUp(self) -> None:
    scratch = tempfile.TemporaryDirectory()
    self.addCleanup(scratch.cleanup)
    self.scratch = pathlib.Path(scratch.name)
    self.model = self.scratch / "model.pbtxt"
    self.output = self.scratch / "small.pb"
    self.text = self.scratch / "text.npz"
    tokens = np.random.default_rng(1).integers(0, 40, (5, 6)).astype(np.int32)
    np.savez(self.text, tokens=tokens)
    self.write_model()

  # A token predicts the next one: an embedding, two layers, and the embedding
  # again. The terms of the second layer are not whole groups.
  def write_model(self) -> None:
    random = np.random.default_rng(2)
    f32, i32 = "type: DT_FLOAT", "type: DT_INT32"
    uniform = lambda *shape: random.uniform(-1, 1, shape).astype(np.float32)
    self.model.write_text(
        op("tokens", "Placeholder", "", dtype=i32,
           shape="shape { dim { size: -1 } dim { size: 6 } }") +
        const("embedding", uniform(40, 128)) + const("axis", np.int32(0)) +
        op("x", "GatherV2", "embedding tokens axis", Tparams=f32, Tindices=i32,
           Taxis=i32) + const("w", uniform(128, 200) / 10) +
        op("h", "BatchMatMulV2", "x w", T=f32) + op("r", "Relu", "h", T=f32) +
        const("v", uniform(200, 128) / 10) +
        op("y", "BatchMatMulV2", "r v", T=f32) +
        op("logits", "BatchMatMulV2", "y embedding", T=f32, adj_y="b: true"))

  def quantize(self, *words: object) -> subprocess.CompletedProcess:
    return tenon("quantize", self.model, "--output", self.output, *words)

  def logits(self, model: pathlib.Path, *words: str) -> np.ndarray:
    out = self.scratch / "out.npz"
    done = tenon("run", model, "--inputs", self.text, "--outputs", out, *words)
    self.assertEqual(done.returncode, 0, done.stderr)
    with np.load(out) as arrays:
      return next(arrays[k] for k in arrays.files if "logits" in k)

  def test_formats(self) -> None:
    exact = self.logits(self.model)
    for format_, options, error in (
        ("bf16", (), 0.01), ("int8", (), 0.02),
        ("int8", ("--zero-points", "--scales", "bfloat16"), 0.02),
        ("int8", ("--group", "0", "--scales", "float32"), 0.02),
        ("int4", ("--group", "32"), 0.25), ("int4", ("--zero-points",), 0.25)):
      with self.subTest(format=format_, options=options):
        done = self.quantize("--weights", format_, "--text", self.text, "--data",
                             self.text, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"4 of 4 layers with {format_} weights", done.stdout)
        self.assertIn("perplexity: ", done.stdout)
        small = self.logits(self.output)
        self.assertLess(np.linalg.norm(small - exact),
                        error * np.linalg.norm(exact))
        stats = tenon("dump", self.output, "--stats").stdout
        # So few weights of 16 bits are not worth it.
        self.assertEqual("FuseWeightOnly" in stats, format_ != "bf16")
        self.output.unlink()

  def test_left_out(self) -> None:
    done = self.quantize("--weights", "int8", "--keep", "h", "--no-embeddings")
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn("fp32: as asked", done.stdout)
    self.assertIn("2 of 3 layers", done.stdout)

  def test_refused(self) -> None:
    for words, message in (
        (("--weights", "int3"), "int3"), ((), "--data"),
        (("--weights", "int8", "--group", "-1"), "--group"),
        (("--weights", "int8", "--scales", "float64"), "float64"),
        (("--weights", "int8", "--keep", "nothing"), "'nothing'"),
        (("--weights", "int8", "--tokens", "t"), "--text"),
        (("--weights", "int8", "--text", self.text, "--tokens", "t"), "'t'"),
        (("--weights", "int8", "--text", self.text, "--logits", "z"), "'z'"),
        (("--weights", "int8", "--least-weights", "1000000"),
         "nothing to quantize")):
      done = self.quantize(*words)
      self.assertGreater(done.returncode, 0, words)
      self.assertIn(message, done.stderr)
      self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
      self.assertFalse(self.output.exists())
