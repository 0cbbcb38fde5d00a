"""TensorFlow's ops, one at a time: every op that Tenon has, by its TensorFlow name.

    from tenon import ops
    ops.Softmax(x)                            # a tenon.Tensor
    ops.Conv2D(x, filter, strides=[1, 1, 1, 1], padding="SAME")
    help(ops.Conv2D)

Inputs are given by position or name, attributes by name; attributes that follow from the inputs, and those with
defaults, may be omitted. An op with one output returns a `tenon.Tensor`, one with several a named tuple of them.

>>> from tenon import ops
>>> ops.Add([1.0, 2.0], [3.0, 4.0]).numpy()
array([4., 6.], dtype=float32)
>>> ops.TopKV2([3.0, 1.0, 2.0], 2).indices.numpy()
array([0, 2], dtype=int32)
"""

import tenon._ops

# Nothing else may be a name of this module: ops are looked up where it has none.
__getattr__ = tenon._ops.function
__dir__ = tenon._ops.names
del tenon
