#!/usr/bin/env python3
"""What README.md, the other pages of the root and docs/*.md name exists: linked files, paths, subcommands and their
options, parts of tools/nightly.sh, tests.

  tests/page_names_test.py --build build

tests/snippets_test.py runs the blocks of commands and programs; this test reads the code within sentences and tables, too.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

from snippets_test import FENCED, PAGES

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = argparse.Namespace()

# The recipes of docs/COOKBOOK.md add these.
RECIPES = ("next_after", "abs_of_negated", "TOPIC", "TARGET")
FOLDERS = tuple(p.name + "/" for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith((".", "build", "dist")))
# Programs that are made outside of the default build.
OTHER_PROGRAMS = ("build-fuzz/",)


def code(page: pathlib.Path) -> list[str]:
  """The code within sentences and tables, and the lines of blocks."""
  text = page.read_text(encoding="utf-8")
  lines = [line for _, _, block in FENCED.findall(text) for line in block.splitlines()]
  rest = FENCED.sub("", text)
  return re.findall(r"`([^`\n]+)`", rest) + [line.strip().removeprefix("$ ") for line in lines + re.findall(r"^ {4}.*", rest, re.MULTILINE)]


def commands(first: str) -> list[tuple[str, list[str]]]:
  """Where a page names a command that begins with this word, or with a path that begins so: the page and the words."""
  found = []
  for page in PAGES:
    for text in code(page):
      for part in re.split(r" && | \| |; ", text.partition("  #")[0]):
        part = re.sub(r"^([A-Z_]+=\S+ )*(python3? |PYTHONPATH=\S+ )*", "", part.strip())
        if not part.startswith(first) or "…" in part.split()[0]:
          continue
        try:
          words = shlex.split(part)
        except ValueError:  # the rest is in the next line
          words = part.split()
        if first.endswith("/") or words[0] == first:
          found.append((page.name, words))
  return found


def output(*command: object) -> str:
  done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=60)
  return done.stdout + done.stderr


@functools.cache
def help_of(*command: object) -> str:
  return output(*command, "--help")


@functools.cache
def cases(suite: str, chosen: str = "*") -> tuple[str, ...]:
  """The cases of a GoogleTest program, as `Fixture.Case`."""
  listed, fixture = [], ""
  for line in output(OPTIONS.build / "bin" / suite, "--gtest_list_tests", f"--gtest_filter={chosen}").splitlines():
    name = line.partition("#")[0].strip()
    if line.startswith("  "):
      listed.append(fixture + name)
    elif name.endswith("."):
      fixture = name
  return tuple(listed)


def options_of(words: list[str]) -> list[str]:
  return [word.partition("=")[0] for word in words if word.startswith("--") and word != "--"]


class PageNamesTest(unittest.TestCase):

  def test_links_lead_to_files(self) -> None:
    for page in PAGES:
      for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
          self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

  def test_paths_exist(self) -> None:
    for page in PAGES:
      for text in code(page):
        path = text.split()[0].rstrip(",;:/") if text.split() else ""
        if path.startswith(FOLDERS) and not any(name in path for name in (*RECIPES, "…", "MODEL")):
          self.assertTrue(list(ROOT.glob(path)), f"{page.name}: {text}")

  def test_the_command_line_takes_what_is_named(self) -> None:
    tenon = OPTIONS.build / "bin" / "tenon"
    server = OPTIONS.build / "bin" / "tensorflow_model_server"
    known = re.findall(r"^  (\w+) ", help_of(tenon).partition("Subcommands:")[2], re.MULTILINE)
    named = commands("tenon")
    self.assertGreater(len(named), 50)
    for page, words in named:
      if len(words) == 1 or not re.fullmatch(r"[a-z]+|--\w+", words[1]):
        continue  # the program, or a name in Python
      if words[1].startswith("--"):
        self.assertIn(words[1], help_of(tenon), f"{page}: {words}")
        continue
      self.assertIn(words[1], known, f"{page}: {words}")
      if words[1] != "serve":
        shown = help_of(tenon, words[1])
      elif server.exists():
        shown = help_of(server)
      else:
        continue
      for option in options_of(words[2:]):
        self.assertRegex(shown, rf"{option}\b", f"{page}: {words}")

  def test_the_server_takes_what_is_named(self) -> None:
    server = OPTIONS.build / "bin" / "tensorflow_model_server"
    if not server.exists():
      self.skipTest("the server has not been built")
    for page, words in commands("tensorflow_model_server"):
      for option in options_of(words[1:]):
        self.assertRegex(help_of(server), rf"{option}\b", f"{page}: {words}")

  def test_scripts_take_what_is_named(self) -> None:
    parts = re.findall(r"^run_(\w+)\(\)", (ROOT / "tools" / "nightly.sh").read_text(encoding="utf-8"), re.MULTILINE)
    for folder in ("tools/", "tests/", "bench/"):
      for page, words in commands(folder):
        script = ROOT / words[0]
        if not script.is_file():
          continue
        text = script.read_text(encoding="utf-8")
        for option in options_of(words[1:]):
          self.assertIn(option, text, f"{page}: {words}")
        if script.name == "nightly.sh":
          self.assertLessEqual(set(words[1:]), set(parts), f"{page}: {words}")

  def test_programs_of_the_build_exist(self) -> None:
    found = commands("build/bin/")
    self.assertTrue(found)
    for page, words in found:
      program = OPTIONS.build / pathlib.Path(words[0]).relative_to("build")
      self.assertTrue(program.exists(), f"{page}: {words}")
      for word in words[1:]:
        if word.startswith("--gtest_filter=") and not any(name in word for name in (*RECIPES, "…")):
          self.assertTrue(cases(program.name, word.partition("=")[2]), f"{page}: {words}")

  def test_tests_of_guarantees_exist(self) -> None:
    known = [name for program in sorted((OPTIONS.build / "bin").glob("*_test")) for name in cases(program.name)]
    self.assertTrue(known)
    for page in ("FAULTS.md", "FUZZING.md", "TRUST.md", "LIMITS.md", "NUMERICS.md"):
      for text in code(ROOT / "docs" / page):
        match = re.fullmatch(r"([A-Z]\w+)\.([A-Z]\w*|)(\*|…)?", text)
        if match and match[0] != f"{match[1]}.":
          start = f"{match[1]}.{match[2]}"
          self.assertTrue(any(name == start or (match[3] and name.startswith(start)) for name in known), f"{page}: {text}")


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), required=True)
  parser.parse_known_args(namespace=OPTIONS)
  unittest.main(argv=[sys.argv[0], *parser.parse_known_args()[1]])


if __name__ == "__main__":
  main()
