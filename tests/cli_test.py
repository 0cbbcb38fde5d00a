#!/usr/bin/env python3
"""Tests the command line's contract: commands, options, outputs, errors.

  tests/cli_test.py [--tenon build/bin/tenon] [-v] [TEST …]

Other programs rely on it. Runs the models of tests/models; needs only NumPy. The tests are in tests/cli.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(p) for p in (TESTS / "cli", TESTS, TESTS.parent / "tools", TESTS / "makers")]

# pylint: disable=wrong-import-position,unused-import
import support
from commands_test import OtherCommandsTest
from quantize_test import GenerateTest, QuantizeTest, QuantizeWeightsTest
from quantize_text_test import QuantizeTextTest
from run_test import CacheDirTest, ErrorTest, RunTest


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path, default=support.TENON)
  args, rest = parser.parse_known_args()
  if not args.tenon.exists():
    parser.error(f"{args.tenon} does not exist; build it first")
  support.TENON = args.tenon.resolve()
  unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
  main()
