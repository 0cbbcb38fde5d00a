#!/usr/bin/env python3
"""TensorFlow's own tests: Tenon must compute what they compute.

  tests/recorded.py --source TENSORFLOW [--files REGEX] [--build build] [--jobs N]
                    [--keep FOLDER]

TENSORFLOW is a checkout of TensorFlow's source, of about the version of the wheel. Each
test file whose path fits runs in stock TensorFlow with oneDNN off, while every op, every
call of a tf.function and every Session.run whose only state is variables runs in Tenon
too, with the gate off, with the gate on and op by op (tests/recorded/record.py). Values,
dtypes, shapes and refusals are compared as in tests/contract.py.

--keep has a file of differences per test file, and a pickle of each differing call. Test
files that have been run there before are not run again. The exit status is 1 if values,
dtypes or shapes differ, or something crashed; what only one of the two refuses is listed.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIME_LIMIT = 900  # seconds per test file
# Files about the kernels that Tenon has.
FILES = r"(kernel_tests/(?!custom_ops|io_ops|proto|summary_ops|distributions|v1_compat).*|ops/.*)_test\.py"
# These take hours, or measure.
LEFT = re.compile(r".*(extract_(image|volume)_patches_grad|_test_big|benchmark|_memory_test|collective_ops.*)_?\w*\.py")
LISTED = ("accepted", "refused")
FAILURES = ("type", "values", "crash")


def run_file(file: pathlib.Path, results: pathlib.Path, python_path: str) -> None:
  """In a process of its own: some tests end theirs."""
  if results.exists() and '"kind": "end"' in results.read_text(encoding="utf-8"):
    return
  command = [sys.executable, ROOT / "tests/recorded/record.py", file, results, python_path]
  with open(results.with_suffix(".log"), "wb") as log:
    try:
      subprocess.run(command, stdout=log, stderr=log, timeout=TIME_LIMIT, check=False, cwd=results.parent)
    except subprocess.TimeoutExpired:
      pass


def report(results: list[pathlib.Path]) -> int:
  """Prints what differs, each kind once, and the counts."""
  total: collections.Counter[str] = collections.Counter()
  differences: dict[tuple[str, str], list[dict[str, Any]]] = collections.defaultdict(list)
  cut = []
  for path in results:
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    for line in lines:
      if line["kind"] in LISTED + FAILURES:
        differences[line["kind"], line["name"]].append(line)
      total.update(line.get("counts", {}))
    if not lines or lines[-1]["kind"] != "end":
      cut.append(path.stem)
  for (kind, name), lines in sorted(differences.items()):
    first = lines[0]
    print(f"[{kind}] {name}, {len(lines)} times: {first['text']}\n  {', '.join(first['inputs'])} "
          f"{first['attributes']} ({first['kept']})")
  if cut:
    print(f"ended before their time: {', '.join(cut)}")
  print(f"{len(results)} test files: " + ", ".join(f"{n} {k}" for k, n in total.most_common()))
  # Tests of which little is recorded would test nothing.
  enough = total["agreed"] > 100 * (len(results) - len(cut)) / 4
  return 0 if enough and not any(kind in FAILURES for kind, _ in differences) else 1


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("--source", type=pathlib.Path, required=True)
  parser.add_argument("--files", default=FILES, help="regular expression of paths below tensorflow/python")
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--jobs", type=int, default=2)
  parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "recorded")
  args = parser.parse_args()
  keep = args.keep.resolve()
  keep.mkdir(parents=True, exist_ok=True)
  base = args.source.resolve() / "tensorflow" / "python"
  files = {str(path.relative_to(base)): path for path in sorted(base.rglob("*.py"))}
  files = {name: path for name, path in files.items() if re.fullmatch(args.files, name) and not LEFT.fullmatch(name)}
  if not files:
    print(f"no test files in {base}")
    return 1
  results = [keep / (name.replace("/", "__") + ".json") for name in files]
  with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    for _ in pool.map(run_file, files.values(), results, [str(args.build.resolve() / "python")] * len(files)):
      pass
  return report(results)


if __name__ == "__main__":
  sys.exit(main())
