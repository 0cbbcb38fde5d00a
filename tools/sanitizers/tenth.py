#!/usr/bin/env python3
"""Draws a tenth of all suites under all sanitizers: one sanitizer, and three tenths of its tests.

  tools/sanitizers/tenth.py SEED kind            prints what tools/sanitize.sh takes as KIND
  tools/sanitizers/tenth.py SEED tests NAME …    prints the tests that are drawn of those named

A seed, which may be any text, always draws the same.
"""

import random
import sys

KINDS = ["address,undefined", "thread", "assertions"]

seed, what, *names = sys.argv[1:]
draw = random.Random(f"{seed} {what}")
if what == "kind":
  print(draw.choice(KINDS))
else:
  print("\n".join(sorted(draw.sample(names, max(1, len(names) * len(KINDS) // 10)))))
