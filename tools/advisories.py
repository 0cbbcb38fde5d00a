"""docs/CVES.md: security advisories about TensorFlow and the tests of each (tests/security/README.md)."""

from __future__ import annotations

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECURITY = ROOT / "tests/security"

# What a verdict of tests/security/advisories.txt says, if it is not the name of a test.
REASONS = {
    "no such op": "no: Tenon does not have the op",
    "no such component": "no: nothing like it here",
} | {where: f"no: in {name}" for where, name in {
    "TFLite": "TensorFlow Lite", "GPU": "kernels for GPUs", "XLA": "XLA",
    "MLIR": "MLIR passes", "Grappler": "Grappler", "Python": "Python code",
    "Go": "the Go interface"}.items()}


def _tests() -> dict[str, list[str]]:
  """By advisory: the calls, and the files of models with their number."""
  found: dict[str, list[str]] = collections.defaultdict(list)
  cases = (ROOT / "tests/numerics/cases/cve.txt").read_text()
  for name, year, number in re.findall(r"^(cve_(\d+)_(\d+)\w*):", cases, re.MULTILINE):
    found[f"CVE-{year}-{number}"].append(name)
  for file in ("graphs.txt", "graphdefs.txt"):
    models = collections.Counter(re.findall(
        r"^=== (CVE-\d+-\d+) ", (SECURITY / file).read_text(), re.MULTILINE))
    for cve, count in models.items():
      found[cve].append(f"{file} {count}")
  return found


def _rows() -> tuple[list[list[str]], str]:
  """The advisories, and the month when the list was reviewed."""
  text = (SECURITY / "advisories.txt").read_text()
  rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
  return rows, re.search(r"Reviewed: (.+)", text)[1]


def page() -> str:
  """The page without its heading."""
  tests = _tests()
  rows, reviewed = _rows()
  concerned = 0
  table = ["| advisory | kind | op or component | could Tenon have it | tests |",
           "| --- | --- | --- | --- | --- |"]
  for numbers, kind, op, verdict in rows:
    cve = numbers.split()[0]
    elsewhere = [] if verdict in REASONS or verdict == "tested" else [verdict]
    own = "<br>".join(elsewhere + tests[cve])
    could = REASONS.get(verdict, "yes")
    if verdict in REASONS and own:
      could += "; the same here"
    concerned += could == "yes"
    table.append(f"| {numbers.replace(' ', '<br>')} | {kind} | {op} | {could} | {own} |")
  cases = sum(len(v) for v in tests.values())
  return (f"{len(rows)} numbered defects have been published of TensorFlow's kernels, of its readers of model files, and "
          f"of TensorFlow Serving's requests. {concerned} of them are about something that Tenon has as well. Each of "
          "these has a test here: what the advisory describes gives an error, or TensorFlow's result since its fix, on "
          "the reference and the accelerated kernels, in eager calls and in models. Where the defect was in code that "
          "Tenon does not contain, but Tenon has the same op, the op is tested too (\"the same here\").\n\n"
          f"The list was reviewed in {reviewed}. Advisories about Keras's own files (`.keras`, HDF5), as CVE-2025-1550, "
          "CVE-2025-8747, CVE-2025-9905, CVE-2025-49655 and CVE-2026-0897, are not in it: Tenon reads neither, and "
          "nothing that Keras adds to a SavedModel.\n\n"
          f"There are {cases} rows of tests: `cve_…` are calls of one op in `tests/numerics/cases/cve.txt`, the others "
          "models in `tests/security` (their number follows the file's name), or tests elsewhere, by name. "
          "[tests/security/README.md](../tests/security/README.md) describes them.\n\n" +
          "\n".join(table) + "\n")
