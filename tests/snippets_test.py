#!/usr/bin/env python3
"""Runs the blocks of code of README.md, the other pages of the root, and docs/*.md.

  tests/snippets_test.py --build build

Blocks of commands (`$ tenon …`) run in a folder that has the models and files they name; blocks of Python and C++ run
after the few lines that PRELUDES gives for them. Every block must be run, here or by what ELSEWHERE names, or be code of
the repository (SAME_AS), except for those that BY_HAND excuses. Blocks that are indented instead of fenced count if they have
commands; others show text. tests/page_names_test.py reads the code within sentences.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
MODELS = ROOT / "tests" / "models"
OPTIONS = argparse.Namespace()

# Block (its page and how it begins): what runs it.
ELSEWHERE = {
    "README.md: pip install dist/tenon-*.whl": "tests/python/wheels.sh",
    "README.md: pip install tensorflow-cpu": "tests/plugin/install_test.py",
    "README.md: cmake -B build": "tools/test.sh, tests/consumer/check.sh",
    "README.md: apt install": "tests/debs.sh",
    "README.md: find_package(tenon": "tests/consumer/CMakeLists.txt",
    "TENSORFLOW.md: pip install tensorflow-cpu": "tests/plugin/install_test.py",
    "C_API.md: ": "tests/consumer/use.sh",
    # The ids are those of a model that is not in the repository.
    "GENERATE.md: tenon generate": "tests/cli/quantize_test.py",
    "FUZZING.md: build/bin/fuzz_test": "tests/CMakeLists.txt, tools/nightly.sh",
    "FUZZING.md: TENON_FUZZ_TARGET": "tests/fuzz/search.py",
    "FUZZING.md: tests/contract.py": "tools/nightly.sh",
    "FUZZING.md: tests/property.py": "tests/CMakeLists.txt, tools/nightly.sh",
    # Full-size models.
    "EXPLAIN.md: ": "tests/cli_test.py",
    # No model of the repository has enough weights outside of convolutions.
    "QUANTIZE.md: $ tenon quantize my_model --weights": "tests/small_weights_in_tensorflow.py",
    "PYTHON.md: >>> ": "tests/python/docs_test.py",
    "SERVING.md: ": "tests/serve/serve_test.py",
    "RAY.md: pip install": "tests/python/wheels.sh",
    "RAY.md: ": "tests/cluster/pages_test.py",
    "SPARK.md: pip install": "tests/python/wheels.sh",
    "SPARK.md: ": "tests/cluster/pages_test.py",
    "SCALE.md: ": "tests/cluster/pages_test.py",
}
# Examples that are files of the repository, or lines in them, and so are built and tested with it.
SAME_AS = {
    "COOKBOOK.md: // NextAfter": "ops/math/next_after.op.cc",
    "COOKBOOK.md: next_after_f32": "tests/numerics/cases/binary.txt",
    "COOKBOOK.md: // |-x| = |x|": "graph_rewrite/rules/abs_of_negated.rule.cc",
    "COOKBOOK.md: === the absolute value": "tests/rewrite/abs_of_negated.graph",
}
# Blocks that no test runs, and why.
BY_HAND = {
    "COOKBOOK.md: {\"_HardSigmoid\"": "a row of an example that the table does not have",
    "COOKBOOK.md: template <>": "its formula",
    "COOKBOOK.md: .reference = Unary": "a part of its op's row",
    "COOKBOOK.md: tools/explorer/build.py": "checks what is checked in: tools/nightly.sh",
}
# What a block takes for granted.
PRELUDES = {
    "README.md: import tenon": 'import numpy as np\npixels = np.load("images.npz")["image"]\n',
    "README.md: std::vector<tenon::Tensor> y":
        "const tenon::Tensor logits = tenon::Tensor::From<float>({1, 2}, {1.0f, 1.0f});\n"
        "const tenon::Handle handle(logits);\n",
    "GENERATE.md: class Step": "import tensorflow as tf\nLAYERS, LENGTH, HEADS, SIZE = 1, 4, 1, 2\n",
    "GENERATE.md: decoder = tenon.load": "import tenon\nids, END, show = [1, 2], 0, print\n",
    "GENERATE.md: tenon::Session":
        "const std::vector<int64_t> ids = {84, 104, 101, 32, 109, 105, 108, 108}, expected = {164, 154, 142, 238, 15};\n"
        "std::vector<int64_t> shown;\nconst int64_t kEnd = -1;\n"
        "const auto Show = [&](int64_t token) {\n"
        "  shown.push_back(token);\n"
        "  if (shown.size() == expected.size()) std::exit(shown == expected ? 0 : 1);\n};\n",
}
# A fenced block: its indentation, language and lines.
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# How the lines of an indented block of commands begin.
COMMAND = r"([A-Z_]+=\S+ )*(tenon |(tools|tests|build[\w-]*|bench)/|cmake |ninja |pip |python)"
PROGRAM = "#include <cstdlib>\n#include <vector>\n#include <tenon/tenon.hpp>\nint main() {{\n{}}}\n"


class Block(NamedTuple):
  page: str
  line: int
  language: str
  text: str

  def of(self, table: dict[str, str]) -> str | None:
    """The table's value for this block."""
    name = f"{self.page}: {self.text}"
    return next((value for key, value in table.items() if name.startswith(key)), None)

  def __str__(self) -> str:
    return f"{self.page}:{self.line} ({self.text.splitlines()[0]})"


def blocks() -> list[Block]:
  found = []
  indented = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
  for path in PAGES:
    text = path.read_text(encoding="utf-8")
    for match in FENCED.finditer(text):
      found.append(Block(path.name, text.count("\n", 0, match.start()) + 1, match[2], textwrap.dedent(match[3])))
    text = FENCED.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in indented.finditer(text):
      if re.match(COMMAND, match[1].strip()):
        found.append(Block(path.name, text.count("\n", 0, match.start()) + 1, "", textwrap.dedent(match[1])))
  return found


class SnippetsTest(unittest.TestCase):

  def setUp(self) -> None:
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)
    # The names in the pages.
    for name in ("my_model", "MODEL"):
      (self.folder / name).symlink_to(MODELS / "mobilenetv2" / "saved_model")
    for name in ("my_decoder", "decoder"):
      (self.folder / name).symlink_to(MODELS / "generate" / "variables")
    for name in ("images.npz", "samples.npz", "in.npz"):
      shutil.copy(MODELS / "mobilenetv2" / "inputs_b2.npz", self.folder / name)
    shutil.copy(ROOT / "LICENSE", self.folder / "novel.txt")
    (self.folder / "libapu.so").symlink_to(OPTIONS.build / "apu" / "libapu.so")

  def run_in_folder(self, command: list[str | pathlib.Path] | str, **environment: str) -> None:
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, check=False,
                          cwd=self.folder, env={**os.environ, **environment}, timeout=300)
    self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")

  def run_block(self, block: Block) -> None:
    prelude = block.of(PRELUDES) or ""
    if re.match(r"\$ |([A-Z_]+=\S+ )*tenon ", block.text):
      for line in block.text.splitlines():
        line = line.removeprefix("$ ").replace("/opt/plugins", str(self.folder))
        self.assertRegex(line, r"^([A-Z_]+=\S+ )*tenon ")
        self.run_in_folder(line, PATH=f"{OPTIONS.build / 'bin'}:{os.environ['PATH']}")
    elif block.language == "python":
      self.run_in_folder([sys.executable, "-c", prelude + block.text], PYTHONPATH=str(OPTIONS.build / "python"))
    elif block.language == "cpp":
      source, program, library = self.folder / "snippet.cc", self.folder / "snippet", OPTIONS.build / "lib"
      source.write_text(PROGRAM.format(prelude + block.text))
      self.run_in_folder(["c++", "-std=c++20", "-I", ROOT / "include", source, "-o", program, f"-L{library}",
                          "-ltenon", f"-Wl,-rpath,{library}"])
      self.run_in_folder([program])
    else:
      self.fail("nothing runs this block: add it to ELSEWHERE, or let this test run it")

  def test_every_block_runs(self) -> None:
    for block in blocks():
      if all(block.of(table) is None for table in (ELSEWHERE, SAME_AS, BY_HAND)):
        with self.subTest(str(block)):
          self.run_block(block)

  def test_examples_are_code_of_the_repository(self) -> None:
    for block in blocks():
      path = block.of(SAME_AS)
      if path is not None:
        source = (ROOT / path).read_text(encoding="utf-8")
        for line in block.text.splitlines():
          self.assertIn(" ".join(line.split()), [" ".join(own.split()) for own in source.splitlines()], f"{block}: {path}")

  def test_the_tables_name_blocks_and_tests(self) -> None:
    for table in (ELSEWHERE, SAME_AS, BY_HAND, PRELUDES):
      for key in table:
        self.assertTrue(any(f"{b.page}: {b.text}".startswith(key) for b in blocks()), key)
    for where in (*ELSEWHERE.values(), *SAME_AS.values()):
      for path in where.split(", "):
        self.assertTrue((ROOT / path).exists(), path)


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--build", type=pathlib.Path, required=True)
  parser.parse_known_args(namespace=OPTIONS)
  OPTIONS.build = OPTIONS.build.resolve()
  unittest.main(argv=[sys.argv[0], *parser.parse_known_args()[1]])


if __name__ == "__main__":
  main()
