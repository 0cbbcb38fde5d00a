"""What programs do with TensorFlow (workloads.py), with the plug-in and without it."""

import re

from support import HERE, PluginCase


class WorkloadsTest(PluginCase):
    def test_same_results(self):
        dump = self.scratch / "dump"
        dump.mkdir()
        self.same_results("workloads.py", least=200, TENON_DUMP_DIR=str(dump))
        # It was Tenon that ran: graphs were rewritten, forward and backward.
        graphs = "".join(f.read_text() for f in dump.glob("*_fuse.graph"))
        ops = set(re.findall(r" = (\w+)\(", graphs))
        self.assertLessEqual({"_FusedConv2D", "_FusedMatMul", "_FusedDepthwiseConv2dNative",
                              "Conv2DBackpropFilter", "Conv2DBackpropInput", "Einsum",
                              "FusedBatchNormV3", "_MaxPoolGradWithWorkspace", "_Moments",
                              "_GradientSums"} - ops, set())

    def test_saved_model_has_no_private_op(self):
        self.run_python(HERE / "saved_model.py", "save", self.scratch / "saved")
        # Read again by a TensorFlow that does not have the plug-in, and by one that has.
        for onednn in ("0", "1"):
            self.run_python(HERE / "saved_model.py", "load", self.scratch / "saved", onednn=onednn)

    def test_functions(self):
        """explain, the profiler, unknown ops, control edges, names, XLA, second derivatives."""
        self.run_python(HERE / "graphs.py")

    def test_gradients(self):
        """tf.test.compute_gradient, eagerly and in functions."""
        self.run_python(HERE / "gradients.py")

    def test_networks(self):
        """The seven networks: SavedModels, predict, and training steps."""
        self.same_results("models.py", least=7 * 5)

    def test_defects(self):
        """Graphs on which TensorFlow's own oneDNN path goes wrong. What a fused Relu makes of NaN is
        the user's choice."""
        self.run_python(HERE / "defects.py", TENON_STRICT_NAN="1")
