"""Loads the extension module."""

import os

# OpenMP's idle threads spin for milliseconds unless told otherwise, which costs other work its CPUs. The
# library reads these variables once, when it is loaded; nothing else in the process sees them.
_SHORT_SPIN = {"GOMP_SPINCOUNT": "10000", "OMP_WAIT_POLICY": "active"}


def _version() -> str:
    unset = not any(name in os.environ for name in _SHORT_SPIN)
    if unset:
        os.environ.update(_SHORT_SPIN)
    try:
        from tenon import _core
    finally:
        if unset:
            for name in _SHORT_SPIN:
                os.environ.pop(name, None)
    return _core.version


version = _version()
