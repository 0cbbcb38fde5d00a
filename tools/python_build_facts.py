"""Prints what CMake has to know about this Python, as a list: the folder of Python.h, the suffix of
extension modules, the version of the stable ABI to use (0: none). Run by python/CMakeLists.txt."""

import pathlib
import sys
import sysconfig

include = pathlib.Path(sysconfig.get_path("include"))
if not (include / "Python.h").exists():
    sys.exit(f"{include} has no Python.h")
# The oldest version whose stable ABI is enough for nanobind.
stable = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
print(include, ".abi3.so" if stable else sysconfig.get_config_var("EXT_SUFFIX"),
      "0x030C0000" if stable else "0", sep=";")
