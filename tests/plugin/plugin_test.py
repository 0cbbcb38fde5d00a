#!/usr/bin/env python3
"""Compares stock TensorFlow with the plug-in and without it.

    plugin_test.py --python PYTHON_WITH_TENSORFLOW --site-packages BUILD/site-packages [--sample] [Class.test…]

The plug-in's wheel is installed in a separate virtual environment, which borrows TensorFlow from
PYTHON's. The scripts next to this file run there; their output is compared, or they check themselves.
"""

import argparse
import sys
import tempfile
import time
import unittest

import support
from failures_test import *  # noqa: F403
from install_test import *  # noqa: F403
from ops_test import *  # noqa: F403
from process_test import *  # noqa: F403
from threads_test import *  # noqa: F403
from workloads_test import *  # noqa: F403


class TimedResult(unittest.TextTestResult):
    """Says how long each test took."""

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"    {time.monotonic() - self.started:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--site-packages", required=True)
    parser.add_argument("--sample", action="store_true", help="a few minutes: sample_test.py")
    args, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        support.PluginCase.environment = support.Environment(
            args.python, args.site_packages, folder)
        test = unittest.main(module="sample_test" if args.sample else "__main__",
                             testRunner=unittest.TextTestRunner(verbosity=2, resultclass=TimedResult),
                             argv=[sys.argv[0], *rest], exit=False)
    sys.exit(not test.result.wasSuccessful())


if __name__ == "__main__":
    main()
