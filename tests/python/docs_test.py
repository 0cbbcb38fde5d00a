"""Runs the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import unittest

import numpy as np
import support
import tenon


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: object) -> unittest.TestSuite:
    os.chdir(support.ROOT)
    for info in pkgutil.iter_modules(tenon.__path__, "tenon."):
        if info.name in ("tenon._core", "tenon.__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ModuleNotFoundError as error:
            if error.name != "pyarrow":  # optional
                raise
            continue
        try:
            tests.addTests(doctest.DocTestSuite(module, extraglobs={"np": np, "tenon": tenon}))
        except ValueError:
            pass  # it has no examples
    tests.addTests(doctest.DocFileSuite(str(support.ROOT / "docs" / "PYTHON.md"), module_relative=False))
    return tests


class DocstringTest(unittest.TestCase):

    def test_every_public_name_has_one(self) -> None:
        for name in tenon.__all__:
            thing = getattr(tenon, name)
            self.assertTrue(thing.__doc__, name)
            if isinstance(thing, type):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                        self.assertTrue(value.__doc__, f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
