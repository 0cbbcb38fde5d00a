"""Builds another revision's `tenon` for bench/compare --against."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Beyond this a model counts as slower.
LARGEST_SLOWDOWN = 1.05


def commit(revision: str) -> str:
  """The full hash of a revision; SystemExit if there is none."""
  done = subprocess.run(
      ["git", "-C", ROOT, "rev-parse", "--verify", "--quiet",
       f"{revision}^{{commit}}"], capture_output=True, text=True, check=False)
  if done.returncode != 0:
    raise SystemExit(f"there is no revision '{revision}'")
  return done.stdout.strip()


def build(revision: str, cache: pathlib.Path) -> pathlib.Path:
  """The command line of a revision, kept in `cache` by the commit's hash.

  Compiled in a worktree that is removed again, with ccache if there is one.
  """
  sha = commit(revision)
  kept = cache / "revisions" / sha[:16] / "tenon"
  if kept.exists():
    return kept
  with tempfile.TemporaryDirectory(prefix="tenon-against-") as scratch:
    tree = pathlib.Path(scratch, "tree")
    out = tree / "build"  # relative to it all trees look alike, so ccache shares
    log = pathlib.Path(scratch, "log")
    print(f"building {revision} ({sha[:9]}) …", flush=True)
    configure = ["cmake", "-S", tree, "-B", out, "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Release", "-DTENON_BUILD_TESTS=OFF",
                 "-DTENON_BUILD_BENCH=OFF"]
    environment = dict(os.environ)
    if shutil.which("ccache"):
      configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
      # Paths below this folder are equal to ccache, so that trees share its
      # entries.
      environment.setdefault("CCACHE_BASEDIR", scratch)
      environment.setdefault("CCACHE_NOHASHDIR", "1")
    try:
      with open(log, "w", encoding="utf-8") as text:
        for command in (["git", "-C", ROOT, "worktree", "add", "--detach",
                         "--force", tree, sha], configure,
                        ["cmake", "--build", out, "--target", "tenon_cli"]):
          subprocess.run(list(map(str, command)), check=True, stdout=text,
                         stderr=subprocess.STDOUT, env=environment)
    except subprocess.CalledProcessError as error:
      tail = log.read_text(errors="replace").strip().splitlines()[-15:]
      raise SystemExit(f"cannot build {revision}:\n" +
                       "\n".join(tail)) from error
    finally:
      subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force",
                      tree], check=False, capture_output=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Renamed, so that an interrupted copy is never used as a program.
    shutil.copy2(out / "bin" / "tenon", kept.with_suffix(".new"))
    kept.with_suffix(".new").rename(kept)
  return kept


def slower(results: dict, peer: str) -> dict[str, float]:
  """Models on which Tenon is too much slower than `peer`, and by how much."""
  found = {}
  for model, row in results.items():
    now, before = row.get("tenon", {}), row.get(peer, {})
    if "min_ms" not in now or "min_ms" not in before:
      continue
    # Both, so that one lucky or unlucky slice is not reported.
    ratio = min(now[k] / before[k] for k in ("min_ms", "median_ms"))
    if ratio > LARGEST_SLOWDOWN:
      found[model] = ratio
  return found
