#!/usr/bin/env python3
"""Builds the page of `tenon explore` from its sources: dist/explorer.html, one file without its data.

  tools/explorer/build.py            check types, build
  tools/explorer/build.py --check    exit with 1 if dist/explorer.html is not what the sources build

Needs esbuild and TypeScript (tools/explorer/packages.txt). Another version of esbuild may write the same script
differently: --check then only builds, and says so.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "dist" / "explorer.html"
ESBUILD = "0.17.0"  # Debian 12's; wrote dist/explorer.html


def esbuild(*words: str) -> str:
  return subprocess.run(["esbuild", *words], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def build() -> str:
  """The page, with the placeholder @@TENON_EXPLORE_DATA@@."""
  subprocess.run(["tsc", "--project", HERE], check=True)
  small = ("--minify", "--target=es2020", "--charset=ascii", "--legal-comments=none", "--log-level=warning")
  script = esbuild("src/main.ts", "--bundle", "--format=iife", *small)
  style = esbuild("src/style.css", *small)
  if "</script" in script.lower() or "</style" in style.lower() or "@@" in script + style:
    raise SystemExit("the script or style would end its element early, or has a placeholder")
  page = (HERE / "src" / "frame.html").read_text(encoding="utf-8")
  return page.replace("@@STYLE@@", style).replace("@@SCRIPT@@", script)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--check", action="store_true")
  page = build()
  version = esbuild("--version")
  if parser.parse_args().check:
    if version != ESBUILD:
      print(f"not compared: esbuild is {version}, dist/explorer.html was built by {ESBUILD}")
      return 0
    if PAGE.read_text(encoding="utf-8") == page:
      return 0
    print("tools/explorer/dist/explorer.html is not what its sources build; run tools/explorer/build.py")
    return 1
  if version != ESBUILD:
    print(f"esbuild is {version}: change ESBUILD")
    return 1
  PAGE.parent.mkdir(exist_ok=True)
  PAGE.write_text(page, encoding="utf-8")
  print(f"{PAGE.relative_to(HERE.parent.parent)}: {len(page) // 1000} kB")
  return 0


if __name__ == "__main__":
  sys.exit(main())
