"""A picture of a small model's graph before and after rewriting: each node of the graph as loaded has the color of
the node that computes it afterwards. tools/docs.py writes it, from what `tenon dump` and `tenon explain` print.
"""

from __future__ import annotations

import re
from typing import Any

from svg import Svg

# As in tools/bench-report.
COLORS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#0072b2"]
PLAIN = "#dddddd"
STEP, WIDTH, GAP = 29, 21, 14
LETTER = 7.0  # its width, at most
NATIVE = "_MklNative"


class Node:
  """A node of Graphviz's text: op, name, what is fused into it, and readers."""

  def __init__(self, label: str):
    self.op, _, rest = label.partition("\\n")
    self.name, _, self.more = rest.partition("\\n")
    self.readers: list[str] = []
    self.inputs: list[str] = []


def parse(dot: str) -> dict[str, Node]:
  """The nodes that compute something (no constants, no inputs and outputs of the model), in order."""
  nodes = {}
  for key, label in re.findall(r'^  (n\d+) \[label="([^"]*)"', dot, re.MULTILINE):
    nodes[key] = Node(label)
  for source, target in re.findall(r"^  (n\d+) -> (n\d+);", dot, re.MULTILINE):
    nodes[source].readers.append(target)
    nodes[target].inputs.append(source)
  return nodes


def columns(nodes: dict[str, Node]) -> dict[str, int]:
  """A column for each node, left of its readers: what depends on the input, as far left as it can be, the
  arithmetic on constants as far right as it can be."""
  fed: dict[str, int] = {}

  def place(key: str) -> int:
    if key not in fed:
      node = nodes[key]
      before = [c for c in map(place, node.inputs) if c >= 0]
      fed[key] = 0 if node.op == "Placeholder" else max(before) + 1 if before else -1
    return fed[key]

  for key in nodes:
    place(key)
  late: dict[str, int] = {k: c for k, c in fed.items() if c >= 0}

  def place_late(key: str) -> int:
    if key not in late:
      late[key] = min(map(place_late, nodes[key].readers)) - 1
    return late[key]

  for key in nodes:
    place_late(key)
  first = min(late.values())
  return {key: column - first for key, column in late.items()}


def picture(loaded: str, rewritten: str, explored: dict[str, Any]) -> str:
  """SVG. `loaded` and `rewritten`: Graphviz's text of the two graphs; `explored`: what `tenon explain --json` prints."""
  before, after = parse(loaded), parse(rewritten)
  names = {node["id"]: node["name"] for node in explored["loaded"]}
  became = {names[origin]: node["name"]
            for node in sorted(explored["final"], key=lambda node: node["accelerated"]) for origin in node["origins"]}
  kernels = [n for n in after.values() if n.op.startswith(NATIVE)]
  color = {n.name: COLORS[i % len(COLORS)] for i, n in enumerate(sorted(kernels, key=lambda n: list(
      became.get(b.name, b.name) for b in before.values()).index(n.name)))}
  column = columns(before)
  rows: dict[str, int] = {}
  taken: set[tuple[int, int]] = set()
  reached = {k for k, n in before.items() if n.op == "Placeholder"}
  for key in sorted(before, key=lambda k: column[k]):
    if reached.intersection(before[key].inputs):
      reached.add(key)
  for key in sorted(before, key=lambda k: (k not in reached, column[k])):
    row = 0 if key in reached else 1
    while (column[key], row) in taken:
      row += 1
    rows[key] = row
    taken.add((column[key], row))

  heights = [12 + LETTER * max(len(before[k].op) for k in rows if rows[k] == row)
             for row in range(max(rows.values()) + 1)]
  top, left = 34, 10
  below = top + sum(heights) + GAP * len(heights) + 44
  width = left * 2 + (max(column.values()) + 1) * STEP
  svg = Svg(width, round(below + 74), "a graph before and after rewriting")
  svg.text(left, 18, f"As loaded: {len(before)} nodes and the constants. Nodes of one color become one node.")

  def corner(key: str) -> tuple[float, float]:
    return left + column[key] * STEP, top + sum(h + GAP for h in heights[rows[key] + 1:])

  for key, node in before.items():
    x, y = corner(key)
    height = heights[rows[key]]
    for reader in node.readers:
      rx, ry = corner(reader)
      far = rows[key] == rows[reader] and column[reader] - column[key] > 1
      start, end = (x + WIDTH, y + height / 2), (rx, ry + heights[rows[reader]] / 2)
      if far:  # around what lies between
        floor = y + height + 6
        svg.line([(x + WIDTH / 2, y + height), (x + WIDTH / 2, floor), (rx + WIDTH / 2, floor),
                  (rx + WIDTH / 2, y + height)], "#888888")
      else:
        svg.line([start, end], "#888888")
  for key, node in before.items():
    x, y = corner(key)
    height = heights[rows[key]]
    svg.box(x, y, WIDTH, height, color.get(became.get(node.name, node.name), PLAIN))
    svg.upright(x + WIDTH / 2 + 4, y + height - 6, node.op)

  svg.text(left, below - 12, f"After rewriting: {len(after)} nodes, {len(kernels)} of them kernels on oneDNN "
           f"or vector code (their names begin with {NATIVE}). Arithmetic on constants is gone.")
  spans = {}
  for key, node in after.items():
    parts = [column[k] for k, b in before.items() if k in reached and became.get(b.name, b.name) == node.name]
    spans[key] = (left + min(parts) * STEP, left + max(parts) * STEP + WIDTH)
  for key, node in after.items():
    for reader in node.readers:
      start, end = spans[key][1], spans[reader][0]
      if any(start < s and e < end for s, e in spans.values()):
        floor = below + 44
        svg.line([(start - 8, below + 36), (start - 8, floor), (end + 8, floor), (end + 8, below + 36)], "#888888")
      else:
        svg.line([(start, below + 18), (end, below + 18)], "#888888")
  for key, node in after.items():
    start, end = spans[key]
    svg.box(start, below, end - start, 36, color.get(node.name, PLAIN))
    words = node.op.removeprefix(NATIVE)
    if (end - start) < LETTER * len(words):
      svg.text((start + end) / 2, below + 62, words, "middle")
      svg.line([((start + end) / 2, below + 36), ((start + end) / 2, below + 50)], "#888888")
    else:
      svg.text((start + end) / 2, below + 15, words, "middle")
    if node.more and (end - start) >= 6 * len(node.more):
      svg.text((start + end) / 2, below + 30, node.more, "middle")
  return svg.finish()
