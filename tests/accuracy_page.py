"""Figures of tests/accuracy.py as the tables of docs/NUMERICS.md."""

from __future__ import annotations

import importlib.metadata
import math
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "NUMERICS.md"
MARK = "<!-- Written by tests/accuracy.py --page; do not edit. -->\n"
FAMILIES_MARK = "<!-- Written by tests/accuracy.py --page --random 2; do not edit. -->\n"


class Row(NamedTuple):
  """A case: errors by side, None where the side cannot compute it, and what special values do."""
  family: str
  name: str
  figures: dict[str, float | None]
  special: dict[str, str] | None

  def ratio(self, ours: str = "tenon", theirs: str = "tensorflow") -> float:
    """Infinite if only ours has no result, or NaN; 0 if there is nothing to compare.

    Below 2^-24 results differ by their own rounding.
    """
    a, b = self.figures.get(ours), self.figures.get(theirs)
    if b is None or math.isnan(b) or ours not in self.figures:
      return 0
    if a is None or math.isnan(a):
      return math.inf
    ratio = a / max(b, 2 ** -25)
    return ratio if a > 2 ** -24 else min(1.0, ratio)


def figure(value: float | None, unit: float) -> str:
  if value is None:
    return "n/a"
  return f"{value / unit:.{2 if value < 2 * unit else 1}f}"


# ---- Special values ------------------------------------------------------------------------------


# Sums of products in an order that is the implementation's: infinities of both signs make NaN, or
# not yet. Of these only the places that are not finite are compared.
ANY_ORDER = {"Fourier transforms", "linear algebra"}


def difference(family: str, got: Any, wanted: Any) -> str:
  """What differs in kind: NaN, infinities, or finite values beyond any rounding."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  if family in ANY_ORDER:
    got, wanted = (np.where(np.isfinite(v), v, np.nan) for v in (got, wanted))
  if np.iscomplexobj(got):
    got, wanted = (np.stack([v.real, v.imag]) for v in (got, wanted))
  if (np.isnan(got) != np.isnan(wanted)).any():
    return f"NaN in {np.isnan(got).sum()} places, TensorFlow in {np.isnan(wanted).sum()}"
  infinite = np.isinf(got) | np.isinf(wanted)
  if (got[infinite] != wanted[infinite]).any():
    return f"infinite in {np.isinf(got).sum()} places, TensorFlow in {np.isinf(wanted).sum()}"
  finite = np.isfinite(wanted)
  a, b = got[finite].astype(np.float64), wanted[finite].astype(np.float64)
  if not a.size:
    return ""
  # In a sum with the huge number, others vanish.
  allowed = 1e-4 * np.abs(b) + 1e-4 * np.sqrt(np.mean(b ** 2)) + 1e-38
  if (np.abs(a - b) > allowed).any():
    at = int(np.argmax(np.abs(a - b) / allowed))
    return f"{a[at]:.7g}, TensorFlow {b[at]:.7g}"
  return ""


def deviations(family: str, results: dict[str, Any]) -> dict[str, str] | None:
  """By kind of special value, where Tenon's result is neither of TensorFlow's two.

  None if TensorFlow has none.
  """
  import accuracy_families  # pylint: disable=import-outside-toplevel
  if not {"tensorflow", "tensorflow_off"} & set(results):
    return None
  if "tenon" not in results:
    return dict.fromkeys(accuracy_families.SPECIAL, "no result")
  found = {}
  for i, kind in enumerate(accuracy_families.SPECIAL):
    if family == "quantized" and not kind.startswith("minus zero"):
      continue  # undefined, in TensorFlow too
    differences = [difference(family, results["tenon"][i], results[side][i])
                   for side in ("tensorflow", "tensorflow_off") if side in results]
    if differences and all(differences):
      found[kind] = differences[0]
  return found


# ---- Tables --------------------------------------------------------------------------------------


def markdown(lines: list[list[str]]) -> str:
  head, *rest = lines
  return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *rest]) + "\n"


def table(rows: list[Row], sides: list[tuple[str, str]], unit: float) -> str:
  return markdown([["case", *(title for _, title in sides)],
                   *([row.name, *(figure(row.figures[s], unit) for s, _ in sides)]
                     for row in rows)])


def machine() -> str:
  import report  # pylint: disable=import-outside-toplevel
  found = report.machine()
  return f"{found['cpu']} ({', '.join(found['isa'])}), one thread"


def replace(mark: str, written: str) -> None:
  """What follows the mark, up to the next mark or the end."""
  text = PAGE.read_text(encoding="utf-8")
  before, _, after = text.partition(mark)
  other = FAMILIES_MARK if mark == MARK else MARK
  rest = after.partition(other)
  PAGE.write_text(f"{before}{mark}\n{written}" + (f"\n{rest[1]}{rest[2]}" if rest[1] else ""),
                  encoding="utf-8")


def write_cases(rows: list[Row], sides: list[tuple[str, str]],
                bfloat16: list[tuple[str, str]]) -> None:
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  versions = ", ".join(
      f"{name} {importlib.metadata.version(package)}" for name, package in (
          ("TensorFlow", "tensorflow-cpu"), ("OpenVINO", "openvino"),
          ("ONNX Runtime", "onnxruntime"), ("tf2onnx", "tf2onnx")))
  contractions = [row for row in rows if accuracy_cases.IN_BFLOAT16.match(row.name)]
  replace(MARK, f"{machine()}; {versions}.\n\n{table(rows, sides, 1e-7)}\n"
          "Contractions in bfloat16, in units of 1e-3:\n\n"
          f"{table(contractions, bfloat16, 1e-3)}")


def mean(values: list[float]) -> str:
  """Geometric."""
  values = [v for v in values if v > 0]
  if not values:
    return "-"
  return f"{math.exp(sum(math.log(v) for v in values) / len(values)):.2f}"


def write_families(rows: list[Row], count: int) -> None:
  lines = [["family", "cases", "mean ratio", "with AVX2", "worst case", "Tenon", "TensorFlow",
            "gate off", "ratio", "special values that agree"]]
  by_family: dict[str, list[Row]] = {}
  for row in rows:
    by_family.setdefault(row.family, []).append(row)
  for family, cases in by_family.items():
    worst = max(cases, key=lambda row: row.ratio())
    key: Callable[[str], str] = lambda side, of=worst: figure(of.figures[side], 1e-7)
    # Of quantized ops only minus zero is defined.
    special = [row.special for row in cases if row.special is not None]
    compared = (1 if family == "quantized" else 6) * len(special)
    deviating = sum(len(s) for s in special)
    lines.append([
        family, str(len(cases)), mean([row.ratio() for row in cases]),
        mean([row.ratio("tenon_avx2", "tensorflow_avx2") for row in cases]), worst.name,
        key("tenon"), key("tensorflow"), key("tensorflow_off"), f"{worst.ratio():.2f}",
        f"{compared - deviating} of {compared}"])
  version = importlib.metadata.version("tensorflow-cpu")
  replace(FAMILIES_MARK,
          "## Random problems of every family\n\n"
          f"{count} problems of each op, with shapes and values drawn by seed. Ratios are of Tenon's error "
          "to TensorFlow's with its default\nsettings: geometric means, and the worst case, whose "
          "errors follow. NaN, both infinities, a denormal, minus zero and 1e30\nare put into each "
          "problem in turn; results agree if NaN and infinities are in the same places as in "
          "TensorFlow, with\noneDNN or without.\n\n"
          f"{machine()}; TensorFlow {version}.\n\n{markdown(lines)}")
