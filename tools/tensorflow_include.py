"""Prints the include directory of the installed TensorFlow, without importing it."""

import importlib.util
import pathlib

spec = importlib.util.find_spec("tensorflow")
if spec is not None and spec.origin:
    print(pathlib.Path(spec.origin).parent / "include")
