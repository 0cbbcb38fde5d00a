"""What programs do with TensorFlow (workloads.py), with the plug-in and without it."""

import json
import re

import numpy as np
from support import HERE, PluginCase

# Private ops that do not run here: the import of models makes the first two, rewrites.py leaves
# the graphs of the third one out, TensorFlow itself expands the weights of the fourth one, the
# phase that makes the fifth one does not run, and subgraphs.py has the last one.
NOT_RUN = {"_TenonTableFind", "_TenonBranchValue", "_TenonRecurrence", "_TenonWeightOnlyMatMul",
           "_TenonFusedInvertedResidual", "_TenonSubgraph"}


class WorkloadsTest(PluginCase):
    def test_same_results(self):
        dump = self.scratch / "dump"
        dump.mkdir()
        self.same_results("workloads.py", least=200, TENON_DUMP_DIR=str(dump))
        # It was Tenon that ran: graphs were rewritten, forward and backward.
        graphs = "".join(f.read_text() for f in dump.glob("*_fuse.graph"))
        self.check_second_pass(dump)
        ops = set(re.findall(r" = (\w+)\(", graphs))
        self.assertLessEqual({"_FusedConv2D", "_FusedMatMul", "_FusedDepthwiseConv2dNative",
                              "Conv2DBackpropFilter", "Conv2DBackpropInput", "Einsum",
                              "FusedBatchNormV3", "_MaxPoolGradWithWorkspace", "_Moments",
                              "_GradientSums"} - ops, set())

    def check_second_pass(self, dump):
        """TensorFlow hands over what was rewritten once more: nothing is folded or fused then."""
        again = 0
        for loaded in dump.glob("*_loaded.graph"):
            ops = set(re.findall(r" = (\w+)\(", loaded.read_text())) - {"_Opaque", "_Subgraph"}
            if any(op.startswith("_") for op in ops):
                again += 1
                rules = (dump / loaded.name.replace("loaded.graph", "rules.txt")).read_text()
                self.assertEqual([r for r in rules.splitlines() if not r.startswith("clean ")], [],
                                 loaded.name)
        self.assertGreater(again, 25)

    def test_rewrites(self):
        """The graphs of tests/rewrite; each op that only rewrites make has run."""
        ops = self.scratch / "ops.json"
        self.run_python(HERE / "rewrites.py", self.scratch / "with.npz", "--ops", ops,
                        TENON_SUBGRAPHS="0")
        names = json.loads(ops.read_text())
        self.assertEqual(set(names["made_by_rewrites"]) - set(names["ran"]), NOT_RUN)
        # TensorFlow refuses the rest with oneDNN off.
        self.run_python(HERE / "rewrites.py", self.scratch / "without.npz", "--may-refuse", "8",
                        onednn="0")
        self.run_python(HERE / "rewrites.py", self.scratch / "whole.npz")
        for results in ("with", "whole"):
            self.compare(np.load(self.scratch / "without.npz"),
                         np.load(self.scratch / f"{results}.npz"), 300)

    def test_saved_model_has_no_private_op(self):
        """What is saved with the plug-in, in each of TensorFlow's and Keras's forms."""
        folder = self.scratch / "saved"
        folder.mkdir()
        self.run_python(HERE / "saved_model.py", "save", folder)
        # Read again by a TensorFlow that does not have the plug-in, and by one that has.
        for run in (self.environment.run_without, self.environment.run):
            result = run(HERE / "saved_model.py", "load", folder)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
            self.assertGreater(int(result.stdout.split()[-2]), 1000)

    def test_functions(self):
        """explain, the profiler, unknown ops, control edges, names, XLA, second derivatives."""
        self.run_python(HERE / "graphs.py", TENON_SUBGRAPHS="0")

    def test_subgraphs(self):
        """Parts that run as one node."""
        self.run_python(HERE / "subgraphs.py")

    def test_subgraph_control_flow(self):
        """Branches and loops in such parts; every graph is rewritten."""
        result = self.environment.run(HERE / "subgraph_control_flow.py")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
        self.assertNotIn("tenon:", result.stderr)

    def test_gradients(self):
        """tf.test.compute_gradient, eagerly and in functions."""
        self.run_python(HERE / "gradients.py")

    def test_networks(self):
        """The seven networks: SavedModels, predict, and training steps."""
        self.same_results("models.py", least=7 * 5)

    def test_defects(self):
        """Graphs on which TensorFlow's own oneDNN path goes wrong. What a fused Relu makes of NaN is
        the user's choice."""
        # What goes wrong with AVX2 only is not seen on other CPUs without the limit.
        for limit in ({}, {"ONEDNN_MAX_CPU_ISA": "AVX2"}):
            with self.subTest(limit):
                self.run_python(HERE / "defects.py", TENON_STRICT_NAN="1", **limit)
