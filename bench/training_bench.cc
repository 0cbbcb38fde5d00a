// Measures training ops at the shapes of ResNet-50, batch 8: time, and bytes moved per second (each
// input and output once). The second argument is the number of threads.
#include <benchmark/benchmark.h>

#include "bench/kernel_loop.h"
#include "env/containers.h"
#include "graph/tensor.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Case {
  std::string name;
  Node node;
  std::vector<Tensor> inputs;
};

Tensor Values(const Shape& shape, float low = -2) {
  Tensor t = *Tensor::Allocate(DType::kFloat, shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    t.data<float>()[i] = static_cast<float>(i * 7919 % 997) * 0.004f + low;
  }
  return t;
}

Node MakeNode(const char* op, OrderedMap<std::string, AttrValue> attrs = {}) {
  Node node;
  node.id = 0;
  node.name = "bench";
  node.op = op;
  node.attrs = std::move(attrs);
  node.attrs["T"] = AttrValue(DType::kFloat);
  node.attrs["U"] = AttrValue(DType::kFloat);
  return node;
}

std::vector<Case> BatchNorms(const Shape& x) {
  const Shape c({x[3]}), none({0});
  const std::string size = absl::StrCat(x[1], "x", x[2], "x", x[3]);
  const auto attrs = [](bool training, const char* activation) {
    return OrderedMap<std::string, AttrValue>{
        {"is_training", AttrValue(training)},
        {"epsilon", AttrValue(0.001f)},
        {"num_side_inputs", AttrValue(int64_t{0})},
        {"activation_mode", AttrValue(std::string(activation))}};
  };
  const Tensor v = Values(x), scale = Values(c, 0.5f);
  return {
      {"batch_norm_train_" + size,
       MakeNode("_MklNativeFusedBatchNormV3", attrs(true, "Identity")),
       {v, scale, scale, Values(none), Values(none)}},
      {"batch_norm_relu_train_" + size,
       MakeNode("_MklNativeFusedBatchNormEx", attrs(true, "Relu")),
       {v, scale, scale, Values(none), Values(none)}},
      {"batch_norm_inference_" + size,
       MakeNode("_MklNativeFusedBatchNormV3", attrs(false, "Identity")),
       {v, scale, scale, scale, scale}},
      {"batch_norm_grad_" + size,
       MakeNode("_MklNativeFusedBatchNormGradV3", attrs(true, "Identity")),
       {Values(x, -1), v, scale, scale, scale, Values(Shape())}},
      {"batch_norm_relu_grad_" + size,
       MakeNode("_MklNativeFusedBatchNormGradEx", attrs(true, "Relu")),
       {Values(x, -1), v, scale, scale, scale, Values(Shape()), scale, Values(x, 0)}},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Shape& x :
       {Shape({8, 112, 112, 64}), Shape({8, 56, 56, 64}), Shape({8, 56, 56, 256}),
        Shape({8, 28, 28, 512}), Shape({8, 14, 14, 1024}), Shape({8, 7, 7, 2048})}) {
    for (Case& c : BatchNorms(x)) cases.push_back(std::move(c));
  }
  const auto pool = [](int64_t window, int64_t stride, const char* padding) {
    return OrderedMap<std::string, AttrValue>{
        {"ksize", AttrValue(std::vector<int64_t>{1, window, window, 1})},
        {"strides", AttrValue(std::vector<int64_t>{1, stride, stride, 1})},
        {"padding", AttrValue(std::string(padding))}};
  };
  const auto stem = pool(3, 2, "SAME");
  const Tensor large = Values({8, 112, 112, 64}), small = Values({8, 56, 56, 64}, -1);
  Tensor places = *Tensor::Allocate(DType::kUint8, small.shape());
  std::fill_n(places.data<uint8_t>(), places.num_elements(), uint8_t{4});
  cases.push_back({"max_pool_112x112x64", MakeNode("_MklNativeMaxPool", stem), {large}});
  for (const Shape& x : {Shape({1, 112, 112, 64}), Shape({1, 147, 147, 64}),
                         Shape({1, 35, 35, 288}), Shape({1, 17, 17, 768})}) {
    cases.push_back({absl::StrCat("max_pool_batch_1_", x[1], "x", x[2], "x", x[3]),
                     MakeNode("_MklNativeMaxPool", pool(3, 2, "VALID")),
                     {Values(x)}});
  }
  cases.push_back({"max_pool_with_workspace_112x112x64",
                   MakeNode("_MklNativeMaxPoolWithWorkspace", stem),
                   {large}});
  cases.push_back(
      {"max_pool_grad_112x112x64", MakeNode("_MklNativeMaxPoolGrad", stem), {large, small, small}});
  cases.push_back({"max_pool_grad_with_workspace_112x112x64",
                   MakeNode("_MklNativeMaxPoolGradWithWorkspace", stem),
                   {large, small, places}});
  cases.push_back({"avg_pool_grad_7x7x2048",
                   MakeNode("_MklNativeAvgPoolGrad", pool(7, 1, "VALID")),
                   {Tensor::Vector<int32_t>({8, 7, 7, 2048}), Values({8, 1, 1, 2048})}});
  const OrderedMap<std::string, AttrValue> alexnet = {{"depth_radius", AttrValue(int64_t{2})},
                                                      {"alpha", AttrValue(1e-4f)},
                                                      {"beta", AttrValue(0.75f)}};
  const Tensor pixels = Values({8, 27, 27, 256});
  cases.push_back({"lrn_27x27x256", MakeNode("_MklNativeLRN", alexnet), {pixels}});
  cases.push_back(
      {"lrn_grad_27x27x256", MakeNode("_MklNativeLRNGrad", alexnet), {pixels, pixels, pixels}});
  const Tensor image = Values({8, 56, 56, 256});
  cases.push_back({"relu_grad_56x56x256", MakeNode("_MklNativeReluGrad"), {image, image}});
  const Tensor logits = Values({8, 1000}), labels = Values({8, 1000}, 0);
  cases.push_back({"cross_entropy_8x1000",
                   MakeNode("_MklNativeSoftmaxCrossEntropyWithLogits"),
                   {logits, labels}});
  cases.push_back({"sparse_cross_entropy_8x1000",
                   MakeNode("_MklNativeSparseSoftmaxCrossEntropyWithLogits",
                            {{"Tlabels", AttrValue(DType::kInt32)}}),
                   {logits, Tensor::Vector<int32_t>({0, 1, 2, 3, 4, 5, 6, 7})}});
  return cases;
}

const bool registered = [] {
  for (const Case& c : Cases()) {
    benchmark::RegisterBenchmark(c.name.c_str(),
                                 [c](benchmark::State& s) { MeasureKernel(s, c.node, c.inputs); })
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace tenon

BENCHMARK_MAIN();
