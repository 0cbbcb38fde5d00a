"""Loads the extension module."""

import os
import sys

# OpenMP's idle threads spin for milliseconds unless told otherwise, which costs other work its CPUs. The
# library reads these variables once, when it is loaded; nothing else in the process sees them.
_SHORT_SPIN = {"GOMP_SPINCOUNT": "10000", "OMP_WAIT_POLICY": "active"}


_unset = not any(name in os.environ for name in _SHORT_SPIN)
if _unset:
    os.environ.update(_SHORT_SPIN)
# TensorFlow makes the symbols of its own protobuf and abseil global. Ours come first for us.
_flags = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
try:
    from tenon._core import command_line as command_line
    from tenon._core import version as version
except ImportError as _error:
    if "static TLS" in str(_error):
        raise ImportError(f"{_error}: other packages have used up the memory for threads' variables that libraries "
                          "share; import tenon before them (before keras, for one)") from _error
    raise
finally:
    sys.setdlopenflags(_flags)
    if _unset:
        for _name in _SHORT_SPIN:
            os.environ.pop(_name, None)
