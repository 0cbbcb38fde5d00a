// Graphs that TensorFlow's own optimizer has fused can be loaded and run.
#include <gtest/gtest.h>

#include <cmath>

#include "env/flags.h"
#include "tests/support/interpreter.h"
#include "tests/unit/proto/load_testing.h"

namespace tenon {
namespace {

std::string Vector(const std::string& name, const std::string& values) {
  return "node { name: '" + name +
         "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { "
         "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } " +
         values + " } } } }\n";
}
std::string Placeholder(const std::string& name) {
  return "node { name: '" + name +
         "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' "
         "value { shape { dim { size: 1 } dim { size: 1 } dim { size: 3 } dim { size: 2 } } } } "
         "}\n";
}

TEST(FusedGraph, FusedBatchNormEx) {
  const std::string graph =
      Placeholder("x") + Placeholder("side") + Vector("scale", "float_val: 2 float_val: 1") +
      Vector("offset", "float_val: 0.5 float_val: -1") +
      Vector("mean", "float_val: 1 float_val: 0") +
      Vector("variance", "float_val: 3 float_val: 0") +
      "node { name: 'y' op: '_FusedBatchNormEx' input: 'x' input: 'scale' input: 'offset' "
      "input: 'mean' input: 'variance' input: 'side' "
      "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'U' value { type: DT_FLOAT } } "
      "attr { key: 'activation_mode' value { s: 'Relu' } } "
      "attr { key: 'num_side_inputs' value { i: 1 } } "
      "attr { key: 'is_training' value { b: false } } "
      "attr { key: 'data_format' value { s: 'NHWC' } } "
      "attr { key: 'epsilon' value { f: 1 } } }";
  LoadOptions options;
  options.fetches = {"y:0"};
  const auto model = LoadText(graph, options);
  ASSERT_TRUE(model.ok()) << model.status();
  const Shape shape({1, 1, 3, 2});
  const Tensor x = Tensor::From<float>(shape, {1, 2, 3, 4, -5, 6});
  const Tensor side = Tensor::From<float>(shape, {0, 1, -4, 0, 9, -7});
  const Flags flags;
  Services services;
  services.flags = &flags;
  const auto y = testing::Interpret(model->graph, {{"x", x}, {"side", side}}, services);
  ASSERT_TRUE(y.ok()) << y.status();
  // scale / sqrt(variance + 1) is 1 for both channels.
  EXPECT_TRUE(Identical((*y)[0], Tensor::From<float>(shape, {0.5, 2, 0, 3, 3.5, 0})));
}

}  // namespace
}  // namespace tenon
