"""Prints what CMake has to know about this Python, as a list: the folder of Python.h, nanobind's folder, the
suffix of extension modules, and the version of the stable ABI to use (0: none). Run by python/CMakeLists.txt."""

import pathlib
import sys
import sysconfig

try:
    import nanobind
except ImportError:
    sys.exit("nanobind is not installed")

include = pathlib.Path(sysconfig.get_path("include"))
if not (include / "Python.h").exists():
    sys.exit(f"{include} has no Python.h")
# nanobind needs 3.12 for the stable ABI.
STABLE = (3, 12)
stable = sys.version_info >= STABLE and not sysconfig.get_config_var("Py_GIL_DISABLED")
print(include, nanobind.__path__[0],
      ".abi3.so" if stable else sysconfig.get_config_var("EXT_SUFFIX"),
      "0x030C0000" if stable else 0, sep=";")
