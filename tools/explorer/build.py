#!/usr/bin/env python3
"""Builds the page of `tenon explore` from its sources: dist/explorer.html, one file without its data.

  tools/explorer/build.py            check types, build
  tools/explorer/build.py --check    exit with 1 if dist/explorer.html is not what the sources build

Needs esbuild and TypeScript (Debian: esbuild, node-typescript), in the versions that tools/packages.txt installs:
another esbuild may write the same script differently.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "dist" / "explorer.html"


def esbuild(*words: str) -> str:
  return subprocess.run(["esbuild", *words, "--minify", "--target=es2020", "--charset=ascii", "--legal-comments=none",
                         "--log-level=warning"], cwd=HERE, check=True, capture_output=True, text=True).stdout


def build() -> str:
  """The page, with the placeholder @@TENON_EXPLORE_DATA@@."""
  subprocess.run(["tsc", "--project", HERE], check=True)
  script = esbuild("src/main.ts", "--bundle", "--format=iife")
  style = esbuild("src/style.css")
  if "</script" in script.lower() or "</style" in style.lower() or "@@" in script + style:
    raise SystemExit("the script or style would end its element early, or has a placeholder")
  page = (HERE / "src" / "frame.html").read_text(encoding="utf-8")
  return page.replace("@@STYLE@@", style.strip()).replace("@@SCRIPT@@", script.strip())


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--check", action="store_true")
  page = build()
  if parser.parse_args().check:
    if PAGE.read_text(encoding="utf-8") == page:
      return 0
    print("tools/explorer/dist/explorer.html is not what its sources build; run tools/explorer/build.py")
    return 1
  PAGE.parent.mkdir(exist_ok=True)
  PAGE.write_text(page, encoding="utf-8")
  print(f"{PAGE.relative_to(HERE.parent.parent)}: {len(page) // 1000} kB")
  return 0


if __name__ == "__main__":
  sys.exit(main())
