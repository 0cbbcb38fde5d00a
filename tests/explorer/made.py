"""Graphs that tests of the explorer make: a large one, and one with hostile names. GraphDef text."""

from __future__ import annotations

import itertools
import pathlib

HOSTILE = (
    "</script><script>window.harm=1</script>",
    "<img src=x onerror=window.harm=1>",
    "'\"><svg onload=window.harm=1>",
    "@@TENON_EXPLORE_DATA@@",
    "\u202egnirts\u202c \u200f\u2066x\u2069",
    "a\u0000b".replace("\u0000", "\u0001") + "\u0085\u2028c",
    "long" * 2500,
    "__proto__",
    "constructor/toString",
    "${7*7}{{7*7}}",
    "a&view=memory#b%41",
)


def _text(name: str) -> str:
  return "".join(c if 32 <= ord(c) < 127 and c not in "\"\\" else
                 "".join(f"\\{b:03o}" for b in c.encode()) for c in name)


def _node(name: str, op: str, inputs: list[str], more: str = "") -> str:
  lines = "".join(f' input: "{_text(i)}"' for i in inputs)
  dtype = "dtype" if op == "Placeholder" else "T"
  return (f'node {{ name: "{_text(name)}" op: "{op}"{lines} attr {{ key: "{dtype}" value {{ type: DT_FLOAT }} }}{more} }}\n')


def _input() -> str:
  return _node("input", "Placeholder", [],
               ' attr { key: "shape" value { shape { dim { size: 1 } dim { size: 8 } } } }')


def hostile(file: pathlib.Path) -> None:
  """A chain of nodes with names that would do harm if they were taken for HTML."""
  text, last = [_input()], "input"
  for name in HOSTILE:
    text.append(_node(name, "Sqrt", [last]))
    last = name
  text.append(_node("output", "Sqrt", [last]))
  file.write_text("".join(text), encoding="utf-8")


def large(file: pathlib.Path, nodes: int, separator: str = "/") -> None:
  """Layers with branches, each with other ops, and joins, and edges from layer to layer.

  With a separator other than "/" there are no scopes.
  """
  text, last, older = [_input()], "input", "input"
  made = 1
  for layer in range(nodes):
    if made + 182 > nodes:
      break
    scope = separator.join(("model", f"stage_{layer // 10}", f"layer_{layer}", ""))
    branches = []
    for branch, ops in enumerate(itertools.permutations(("Sqrt", "Softplus", "Tanh", "Sigmoid", "Exp"), 3)):
      name = last
      for depth, op in enumerate(ops):
        inner = f"{scope}branch_{branch}{separator}{op}_{depth}"
        text.append(_node(inner, op, [name]))
        name = inner
        made += 1
      branches.append(name)
    text.append(_node(f"{scope}join", "AddN", branches, ' attr { key: "N" value { i: 60 } }'))
    text.append(_node(f"{scope}add", "AddV2", [f"{scope}join", older]))
    older, last = last, f"{scope}add"
    made += 2
  file.write_text("".join(text), encoding="utf-8")
