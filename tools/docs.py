#!/usr/bin/env python3
"""Writes the reference pages from the tables in the program.

  tools/docs.py [--tenon build/bin/tenon]            docs/OPS.md, RULES.md, ENV.md, COVERAGE.md, CVES.md,
                                                     rewriting.svg
  tools/docs.py --check                              fail where a page is out of date
  tools/docs.py --models ~/.cache/tenon/models/…     docs/MODELS.md and the times of COVERAGE.md,
                                                     from full-size models
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import advisories
import graph_picture

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTE = "<!-- Written by tools/docs.py; do not edit. -->\n\n"
MODELS = ["resnet50", "mobilenetv2", "efficientnetb0", "inceptionv3",
          "densenet121", "bert4", "mlp"]

# Below this line a page holds measurements, which --check leaves alone.
MEASURED = "<!-- measured: tools/docs.py --models -->\n"

# XLA's ops that the table does not have, and why; `…` stands for more of the name.
REFUSED = [
    ("XlaAllReduce XlaReduceScatter XlaSend XlaRecv", "they exchange data with other devices or replicas, and a session is one replica"),
    ("XlaSendToHost XlaRecvFromHost XlaHostCompute _XlaSendFromHost _XlaRecvAtHost", "they exchange data with the program that started an accelerator's computation"),
    ("XlaCustomCall XlaCustomCallV2", "they name code of another library, which no file of the model has"),
    ("XlaLaunch XlaLaunchV2 _XlaCompile _XlaRun _XlaMerge", "TensorFlow's compiler puts them into graphs in memory; saved models have the function's own nodes"),
    ("ReadVariableXlaSplitND AssignVariableXlaConcatND", "they spread a variable over an accelerator's cores; of tensors, XlaSplitND and XlaConcatND do it"),
    ("XlaSparseDenseMatmul… XlaSparseCore… XlaSparseActivationsUnstack XlaSparseGradientsStack XlaRecvTPUEmbedding… XlaSendTPUEmbedding…", "they work on the embedding tables of a TPU"),
    ("XlaRemoveDynamicDimensionSize", "it gives back the elements that XlaSetDynamicDimensionSize hides; here a tensor has its elements only, so these are gone (TensorFlow gives whatever stands there)"),
]

# The ops that Tenon sets out to accelerate, row by row: the ops, and whether in eager calls too.
# whether in eager calls too.
GOALS = [
    ("BatchMatMul BatchMatMulV2 MatMul Einsum", True),
    ("Conv2D Conv2DBackpropInput Conv2DBackpropFilter", True),
    ("Conv3D Conv3DBackpropInputV2 Conv3DBackpropFilterV2", True),
    ("DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput "
     "DepthwiseConv2dNativeBackpropFilter", True),
    ("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad "
     "FusedBatchNormGradV2 FusedBatchNormGradV3", True),
    ("AvgPool AvgPoolGrad AvgPool3D AvgPool3DGrad", True),
    ("MaxPool MaxPoolGrad MaxPool3D MaxPool3DGrad", False),
    ("Conv2DWithBias=_FusedConv2D Conv2DBackpropFilterWithBias", False),
    ("QuantizedConv2D QuantizedMaxPool QuantizedAvgPool QuantizeV2 Dequantize",
     False),
    ("Transpose ConjugateTranspose", False),
    ("FusedConv2D FusedDepthwiseConv2dNative FusedMatMul PadWithFusedConv2D "
     "FusedBatchNormEx", False),
]


def tenon(tool: pathlib.Path, args: list[str]) -> str:
  # Pages must not depend on the current environment's settings.
  environment = {k: v for k, v in os.environ.items()
                 if not k.startswith(("TENON_", "TF_", "OMP_"))}
  done = subprocess.run([tool, *args], env=environment, capture_output=True,
                        text=True, check=False, cwd=ROOT)
  if done.returncode != 0:
    raise SystemExit(f"tenon {' '.join(args)}: {done.stderr.strip()}")
  return done.stdout


def cases_by_op() -> dict[str, collections.Counter[str]]:
  """The number of an op's golden cases per topic."""
  found: dict[str, collections.Counter[str]] = collections.defaultdict(
      collections.Counter)
  for path in sorted((ROOT / "tests/numerics/cases").glob("*.txt")):
    for op in re.findall(r"^\w+:\s*([\w>]+)\(", path.read_text(), re.MULTILINE):
      found[op][path.stem] += 1
  return found


def rewrites_of(op: str) -> list[str]:
  """Rewrite test cases that expect the op."""
  return sorted(path.name for path in (ROOT / "tests/rewrite").glob("*.graph")
                if re.search(rf"\b{op}\b", path.read_text()))


def tests_of(op: str, cases: dict[str, collections.Counter[str]]) -> str:
  golden = ", ".join(f"{topic} {n}" for topic, n in cases.get(op, {}).items())
  if golden or not op.startswith("_"):
    return golden
  return ", ".join(rewrites_of(op))


def cells(line: str) -> list[str]:
  return [cell.strip() for cell in line.strip().strip("|").split("|")]


def goals_section(table: dict[str, dict[str, str]],
                  cases: dict[str, collections.Counter[str]]) -> str:
  lines = ["| | op | eager | graph | dtypes | tests |",
           "| --- | --- | --- | --- | --- | --- |"]
  for names, in_eager in GOALS:
    for name in names.split():
      row = None
      # "A=B": the row A is tested by cases of B.
      name, _, case_of = name.partition("=")
      op = name
      for op in (case_of or name, f"_{name}"):
        if row := table.get(op):
          break
      if row is None:
        lines.append(f"| missing | {name} | | | | |")
        continue
      tests = tests_of(op, cases)
      accelerated = row["accelerated for"]
      eager = ("-" if not in_eager else
               "accelerated" if accelerated and row["eager"] == "yes" else
               row["eager"])
      done = accelerated and tests and (not in_eager or eager == "accelerated")
      shown = f"{name} (as {op})" if case_of else op
      lines.append(f"| {'done' if done else 'open'} | {shown} | {eager} | "
                   f"{'accelerated' if accelerated else 'reference'} | "
                   f"{accelerated or row['reference kernel for']} | {tests} |")
    lines.append("| | | | | | |")
  return "\n".join(lines[:-1])


def refused_section(table: dict[str, dict[str, str]]) -> str:
  lines = ["| ops | why |", "| --- | --- |"]
  for names, why in REFUSED:
    for name in names.split():
      if any(op.startswith(name.rstrip("…")) for op in table if name.endswith("…")) or name in table:
        raise SystemExit(f"tools/docs.py: {name} is not refused any more")
    lines.append(f"| {', '.join(names.split())} | {why} |")
  return "\n".join(lines)


def ops_page(tool: pathlib.Path) -> str:
  cases = cases_by_op()
  lines = tenon(tool, ["ops", "--internal", "--markdown"]).strip().splitlines()
  header = cells(lines[0])
  table = {}
  text = [lines[0] + " tests |", lines[1] + " --- |"]
  for line in lines[2:]:
    row = dict(zip(header, cells(line)))
    table[row["op"]] = row
    text.append(f"{line} {tests_of(row['op'], cases)} |")
  return (
      f"# Ops\n\n{NOTE}{tenon(tool, ['ops', '--count']).strip()}.\n\n"
      "## The ops to accelerate\n\n"
      "The ops that Tenon sets out to accelerate. Done: there is an accelerated kernel, in "
      "eager calls too if the row requires it (`-`: it does not), and tests.\n\n"
      f"{goals_section(table, cases)}\n\n"
      "## Every op\n\n"
      "What `tenon ops` lists: whether eager calls and graphs have the op, the name that rewriting "
      "gives it, the dtypes that its accelerated and its reference kernel support (of the first type "
      "attribute), and the facts on which rewrites, plans and the quantizer rely. Ops that begin with `_` "
      "are created only by rewriting. Tests: topics of `tests/numerics/cases` with the number of golden "
      "cases; for private ops, files of `tests/rewrite`.\n\n" + "\n".join(text) + "\n\n"
      "## Ops of XLA that are refused\n\n"
      "A model that needs one of them fails with an error that names the node. So do XlaSpmdFullToShardShape and "
      "XlaSpmdShardToFullShape with a sharding of several parts.\n\n" + refused_section(table) + "\n")


def rules_page(tool: pathlib.Path) -> str:
  return (f"# Rewrite rules\n\n{NOTE}What `tenon rules` lists, in the order in which rules "
          "are tried. `TENON_DISABLE_RULES` turns rules off by these names.\n\n"
          f"{tenon(tool, ['rules', '--markdown']).strip()}\n")


def env_page(tool: pathlib.Path) -> str:
  return (f"# Environment variables\n\n{NOTE}What `tenon env` lists.\n\n"
          f"{tenon(tool, ['env', '--markdown']).strip()}\n")


def small_models() -> list[str]:
  folders = sorted((ROOT / "tests/models").glob("**/saved_model"))
  return [str(f.relative_to(ROOT)) for f in folders]


def coverage_page(tool: pathlib.Path) -> str:
  counts = tenon(tool, ["ops", "--markdown", "--counts-only", "--coverage",
                        *small_models()])
  path = DOCS / "COVERAGE.md"
  old = path.read_text() if path.exists() else ""
  measured = old[old.index(MEASURED):] if MEASURED in old else ""
  return (
      f"# Coverage\n\n{NOTE}What `tenon ops --coverage MODEL…` prints: per model, the steps of its "
      "plan that run on accelerated and on reference kernels; free: nodes that are computed during "
      "planning or only pass memory on; missing: ops that Tenon does not have.\n\n"
      f"## The small models of tests/models\n\n{counts.strip()}\n{measured}")


def coverage_times(tool: pathlib.Path, folder: pathlib.Path) -> str:
  models = [str(folder / name / "saved_model") for name in MODELS]
  text = tenon(tool, ["ops", "--markdown", "--seconds", "3",
                      "--threads", "1", "--coverage",
                      *models])
  return f"{MEASURED}\n## Full-size models, batch 1, one thread, with times\n\n{text.strip()}\n"


def rewriting_picture(tool: pathlib.Path) -> str:
  model = "tests/models/digits/saved_model"
  loaded, rewritten = (tenon(tool, ["dump", model, "--phase", phase, "--format",
                                    "dot"]) for phase in ("loaded", "rename"))
  explored = tenon(tool, ["explain", model, "--json", "--no-profile"])
  return graph_picture.picture(loaded, rewritten, json.loads(explored))


def cves_page(_: pathlib.Path) -> str:
  return f"# TensorFlow's security advisories\n\n{NOTE}{advisories.page()}"


PAGES = {"OPS.md": ops_page, "RULES.md": rules_page, "ENV.md": env_page,
         "COVERAGE.md": coverage_page, "CVES.md": cves_page,
         "rewriting.svg": rewriting_picture}


def models_page(tool: pathlib.Path, folder: pathlib.Path) -> str:
  text = (f"# Seven models after rewriting\n\n{NOTE}`tenon dump MODEL --stats` on the full-size "
          "models of `tests/makers/models.py`.\n")
  for name in MODELS:
    stats = tenon(tool, ["dump", str(folder / name / "saved_model"), "--stats",
                         "--markdown"])
    text += f"\n## {name}\n\n{stats.strip()}\n"
  return text


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=ROOT / "build/bin/tenon")
  parser.add_argument("--check", action="store_true")
  parser.add_argument("--models", type=pathlib.Path)
  args = parser.parse_args()
  args.tenon = args.tenon.resolve()

  if args.models:
    (DOCS / "MODELS.md").write_text(models_page(args.tenon, args.models))
    counts = coverage_page(args.tenon).split(MEASURED)[0]
    (DOCS / "COVERAGE.md").write_text(
        f"{counts.rstrip()}\n\n{coverage_times(args.tenon, args.models)}")
    return 0
  stale = 0
  for name, write in PAGES.items():
    text = write(args.tenon)
    path = DOCS / name
    if not args.check:
      path.write_text(text)
    elif not path.exists() or path.read_text() != text:
      print(f"docs/{name} is out of date: run tools/docs.py")
      stale += 1
  return 1 if stale else 0


if __name__ == "__main__":
  sys.exit(main())
