#!/usr/bin/env python3
"""Every function of the public headers is called by some fuzz target.

  tests/fuzz/interface_test.py

A function that no target can sensibly call is in EXCEPTIONS or, with its whole header, in HEADERS, with the reason.
"""

from __future__ import annotations

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = (ROOT / "tests" / "fuzz" / "targets", ROOT / "tests" / "serve" / "fuzz")

# A plug-in is code in Tenon's own process, which has to be trusted: damaged data does not get there.
HEADERS = {
    "device_plugin.h": "called by device plug-ins, on what Tenon gave them in the same call",
    "device_plugin_tools.h": "defined by device plug-ins, called by TensorFlow",
}
EXCEPTIONS: dict[str, str] = {}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DECLARED = re.compile(r"^TENON_API\b[^;]*?\b(tenon_\w+)\(", re.MULTILINE)
# Any other function: a name before a parenthesis in a line that begins with a type.
OTHER = re.compile(r"^(?!TENON_API\b|#|typedef\b)[A-Za-z_][\w \*]*?[ \*](\w+)\([^{}]*?\);", re.MULTILINE)


def code(path: pathlib.Path) -> str:
  """A source without its comments."""
  return COMMENT.sub("", path.read_text(encoding="utf-8"))


def declared() -> dict[str, set[str]]:
  """The functions that each C header declares."""
  return {path.name: set(DECLARED.findall(code(path))) | set(OTHER.findall(code(path)))
          for path in sorted((ROOT / "include" / "tenon").glob("*.h"))}


def called() -> set[str]:
  """The functions that targets call, or hand on to be called."""
  return {name for folder in TARGETS for pattern in ("*.cc", "*.h") for path in folder.glob(pattern)
          for name in re.findall(r"\btenon_\w+", code(path))}


class InterfaceTest(unittest.TestCase):

  def test_headers_are_understood(self) -> None:
    functions = declared()
    self.assertIn("tenon_session_run", functions["tenon.h"])
    self.assertIn("tenon_attrs_set_shapes", functions["eager.h"])  # its declaration has several lines
    self.assertGreater(sum(map(len, functions.values())), 90)

  def test_every_function_is_called(self) -> None:
    calls = called()
    missing = [f"{header}: {name}" for header, names in declared().items() if header not in HEADERS
               for name in sorted(names - calls) if name not in EXCEPTIONS]
    self.assertEqual(missing, [], "no fuzz target calls these; tests/fuzz/targets/c_api.cc has the list of calls")

  def test_exceptions_are_needed(self) -> None:
    functions = declared()
    self.assertLessEqual(set(HEADERS), set(functions))
    self.assertLessEqual(set(EXCEPTIONS), set().union(*functions.values()) - called())


if __name__ == "__main__":
  unittest.main()
