#!/usr/bin/env python3
"""Tests when bench/compare --against reports a model as slower, on made-up results.

  tests/bench_test.py [-v]
"""

from __future__ import annotations

import pathlib
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
sys.path.insert(0, str(BENCH))

import against  # pylint: disable=wrong-import-position


def row(now: tuple[float, float], before: tuple[float, float]) -> dict:
  """(min, median) of this tree and of the other."""
  return {name: {"min_ms": pair[0], "median_ms": pair[1]}
          for name, pair in (("tenon", now), ("tenon_base", before))}


class Slower(unittest.TestCase):
  """against.slower."""

  def slower(self, **results: dict) -> dict[str, float]:
    return against.slower(results, "tenon_base")

  def test_a_slowdown_is_named_with_its_factor(self) -> None:
    found = self.slower(a=row((11.0, 12.0), (10.0, 10.0)),
                        b=row((10.0, 10.2), (10.0, 10.0)))
    self.assertEqual(list(found), ["a"])
    self.assertAlmostEqual(found["a"], 1.1)

  def test_the_limit_is_five_percent(self) -> None:
    self.assertEqual(self.slower(a=row((10.49, 10.49), (10.0, 10.0))), {})
    self.assertEqual(list(self.slower(a=row((10.51, 10.51), (10.0, 10.0)))),
                     ["a"])

  def test_one_unlucky_slice_is_no_finding(self) -> None:
    # The best run alone, or the median alone.
    self.assertEqual(self.slower(a=row((12.0, 10.0), (10.0, 10.0)),
                                 b=row((10.0, 15.0), (10.0, 10.0))), {})

  def test_faster_is_no_finding(self) -> None:
    self.assertEqual(self.slower(a=row((8.0, 8.0), (10.0, 10.0))), {})

  def test_what_failed_has_no_ratio(self) -> None:
    broken = row((20.0, 20.0), (10.0, 10.0))
    broken["tenon_base"] = {"error": "refused"}
    self.assertEqual(self.slower(a=broken, b={}), {})


if __name__ == "__main__":
  unittest.main()
