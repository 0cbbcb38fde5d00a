"""Shows what Tenon does inside TensorFlow. The plug-in works without this module: with the
wheel installed, `import tensorflow` loads it.

    import tenon_tensorflow
    print(tenon_tensorflow.explain(fn, x))
"""

import collections
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

__all__ = ["ThreadUse", "explain", "read_dumps", "thread_use"]

ThreadUse = collections.namedtuple("ThreadUse", ["of_an_op", "at_once", "cpus"])


def thread_use():
    """The most threads used by one of Tenon's ops, and by all of them at once, since the last call
    of this function, and the number of CPUs of the process. OSError if the plug-in is not loaded."""
    path = pathlib.Path(__file__).with_name("libtenon_tensorflow.so")
    library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD)
    counts = [ctypes.c_int() for _ in ThreadUse._fields]
    library.TenonThreadUse(*map(ctypes.byref, counts))
    return ThreadUse(*(c.value for c in counts))


PHASES = ("loaded", "clean", "fold", "fuse")


def read_dumps(folder):
    """The graphs in TENON_DUMP_DIR: a list of dicts, the text by phase and "rules"."""
    graphs = {}
    for path in sorted(pathlib.Path(folder).glob("tensorflow_*_*.*")):
        _, number, what = path.stem.split("_", 2)
        graphs.setdefault(number, {})[what] = path.read_text()
    return list(graphs.values())


def explain(fn, *args, **kwargs):
    """The rules that fired for a tf.function with these arguments, and its graphs before and after.

    The function runs in a separate process, with the plug-in's dumps on. It must be possible to
    save it (tf.saved_model.save), and all arguments must be tensors or arrays.
    """
    import tensorflow as tf

    module = tf.Module()
    module.fn = fn if hasattr(fn, "get_concrete_function") else tf.function(fn)
    module.kept = list(module.fn.get_concrete_function(*args, **kwargs).variables)
    with tempfile.TemporaryDirectory() as folder:
        dumps = pathlib.Path(folder, "dumps")
        dumps.mkdir()
        module.args = tf.nest.map_structure(lambda x: tf.Variable(x, trainable=False), list(args))
        module.kwargs = {k: tf.Variable(v, trainable=False) for k, v in kwargs.items()}
        tf.saved_model.save(module, str(pathlib.Path(folder, "model")))
        code = ("import sys, tensorflow as tf\n"
                "m = tf.saved_model.load(sys.argv[1])\n"
                "m.fn(*[tf.convert_to_tensor(a) for a in m.args],\n"
                "     **{k: tf.convert_to_tensor(v) for k, v in m.kwargs.items()})\n")
        result = subprocess.run(
            [sys.executable, "-c", code, str(pathlib.Path(folder, "model"))], text=True,
            capture_output=True, env={**os.environ, "TENON_DUMP_DIR": str(dumps)})
        if result.returncode != 0:
            raise RuntimeError(result.stderr[-2000:])
        text = []
        for number, graph in enumerate(read_dumps(dumps)):
            text.append(f"=== graph {number}: rules (phase, rule, times)\n{graph.get('rules', '')}"
                        f"--- before\n{graph.get('loaded', '')}--- after\n{graph.get('fuse', '')}")
        return "\n".join(text) or "TensorFlow gave Tenon no graph with an op that it accelerates"
