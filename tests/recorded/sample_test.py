"""A test file as TensorFlow's: what the recorder must see of it is known to tests/recorded_test.py."""

import numpy as np
import tensorflow as tf
from tensorflow.python.platform import test


class SampleTest(test.TestCase):

  def test_ops(self):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    self.assertAllClose(tf.linalg.matmul(x, x), [[7.0, 10.0], [15.0, 22.0]])
    self.assertAllEqual(tf.reduce_sum(x, axis=1), [3.0, 7.0])
    with self.assertRaises(tf.errors.InvalidArgumentError):
      tf.reshape(x, [3])

  def test_function(self):
    @tf.function
    def step(a, b):
      return tf.nn.relu(a - b), tf.cast(a, tf.int32)

    self.assertAllEqual(step(tf.constant([1.0, 2.0]), tf.constant(1.5))[0], [0.0, 0.5])

  def test_variables(self):
    weights = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def step(gradient):
      weights.assign_sub(gradient)
      return tf.reduce_sum(weights)

    self.assertAllEqual(step(tf.constant([1.0, 1.0, 1.0])), 3.0)
    weights.scatter_add(tf.IndexedSlices(tf.constant([5.0]), tf.constant([1])))
    self.assertAllEqual(weights.sparse_read([1, 2]), [6.0, 2.0])

  def test_run(self):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      fed = tf.compat.v1.placeholder(tf.float32, [None])
      self.assertAllEqual(session.run(tf.exp(fed - fed), {fed: np.zeros(3, np.float32)}), [1.0] * 3)


  def test_run_with_variables(self):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
      count = tf.compat.v1.get_variable("count", initializer=1, use_resource=True)
      old = tf.compat.v1.get_variable("old", initializer=2, use_resource=False)
      session.run(tf.compat.v1.global_variables_initializer())
      with tf.control_dependencies([count.assign_add(5)]):
        self.assertEqual(session.run(tf.compat.v1.assign_add(old, count.read_value())), 8)


if __name__ == "__main__":
  test.main()
