#!/usr/bin/env python3
"""Writes the reference pages from the tables in the program.

  tools/docs.py [--tenon build/bin/tenon]            docs/OPS.md, RULES.md, ENV.md
  tools/docs.py --check                              fail where a page is out of date
  tools/docs.py --models ~/.cache/tenon/models/…     docs/MODELS.md, from full-size models
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTE = "<!-- Written by tools/docs.py; do not edit. -->\n\n"
MODELS = ["resnet50", "mobilenetv2", "efficientnetb0", "inceptionv3",
          "densenet121", "bert4", "mlp"]

# Page: title, what it is, command.
PAGES = {
    "OPS.md": ("Ops", "What `tenon ops` lists: every op, the name that rewriting gives it, the "
               "dtypes that its accelerated and its standard kernel take. Ops that begin with `_` are "
               "made by rewriting only.", ["ops", "--internal", "--markdown"]),
    "RULES.md": ("Rewrite rules", "What `tenon rules` lists. `TENON_DISABLE_RULES` turns rules off "
                 "by these names.", ["rules", "--markdown"]),
    "ENV.md": ("Environment variables", "What `tenon env` lists.", ["env", "--markdown"]),
}


def tenon(tool: pathlib.Path, args: list[str]) -> str:
  # Pages must not depend on the settings of whoever writes them.
  environment = {k: v for k, v in os.environ.items()
                 if not k.startswith(("TENON_", "TF_", "OMP_"))}
  done = subprocess.run([tool, *args], env=environment, capture_output=True,
                        text=True, check=False)
  if done.returncode != 0:
    raise SystemExit(f"tenon {' '.join(args)}: {done.stderr.strip()}")
  return done.stdout


def page(tool: pathlib.Path, name: str) -> str:
  title, what, args = PAGES[name]
  return f"# {title}\n\n{NOTE}{what}\n\n{tenon(tool, args).strip()}\n"


def models_page(tool: pathlib.Path, folder: pathlib.Path) -> str:
  text = (f"# Seven models after rewriting\n\n{NOTE}`tenon dump MODEL --stats` on the full-size "
          "models of `tools/models.py`.\n")
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

  if args.models:
    (DOCS / "MODELS.md").write_text(models_page(args.tenon, args.models))
    return 0
  stale = 0
  for name in PAGES:
    text = page(args.tenon, name)
    path = DOCS / name
    if not args.check:
      path.write_text(text)
    elif not path.exists() or path.read_text() != text:
      print(f"docs/{name} is out of date: run tools/docs.py")
      stale += 1
  return 1 if stale else 0


if __name__ == "__main__":
  sys.exit(main())
