"""A sample of the other files' tests, of minutes where those take twenty: plugin_test.py --sample.

Loading and the gate, a failing rewrite, ops of some topics, functions (explain among them), one
model trained, one imported.
"""

import unittest

from failures_test import FailuresTest
from install_test import InstallTest
from support import HERE, PluginCase
from workloads_test import WorkloadsTest

TOPICS = ("matmul", "einsum", "pool", "softmax", "pool_grad")
WORKLOADS = ("conv2d", "fused_chains", "keras_fit", "keras_predict", "frozen", "v1_session")


class SampleTest(PluginCase):
    def test_ops(self):
        self.run_python(HERE / "golden_ops.py", self.scratch / "errors.json", *TOPICS)

    def test_workloads(self):
        self.same_results("workloads.py", *WORKLOADS, least=40)


def load_tests(loader, tests, pattern):
    del loader, pattern
    return unittest.TestSuite([
        InstallTest("test_gate"), FailuresTest("test_rewriting_fails"),
        WorkloadsTest("test_functions"), WorkloadsTest("test_saved_model_has_no_private_op"),
        SampleTest("test_ops"), SampleTest("test_workloads")])
