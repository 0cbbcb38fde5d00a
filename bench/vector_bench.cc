// Measures vector kernels at shapes of DenseNet-121, EfficientNet-B0 and BERT-base: time, and bytes
// moved per second (each input and output once). The second argument is the number of threads.
#include <benchmark/benchmark.h>

#include <cstring>

#include "bench/kernel_loop.h"
#include "env/containers.h"
#include "graph/tensor.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Case {
  const char* name;
  Node node;
  std::vector<Shape> shapes;
  std::vector<int32_t> extra;  // a final input: axes, perm or axis
  bool scalar_extra = false;
};

Node MakeNode(const char* op, OrderedMap<std::string, AttrValue> attrs = {}) {
  Node node;
  node.id = 0;
  node.name = "bench";
  node.op = op;
  node.attrs["T"] = AttrValue(DType::kFloat);
  for (auto& [key, value] : attrs) node.attrs[key] = value;
  return node;
}

Node FusedNode(std::vector<std::string> program, int64_t inputs) {
  return MakeNode("_MklNativeFusedElementwise",
                  {{"program", AttrValue(std::move(program))}, {"N", AttrValue(inputs)}});
}

std::vector<Case> Cases() {
  const std::vector<std::string> batch_norm = {"Mul $0 $1", "AddV2 %0 $2", "Relu %1"};
  const Node norm = FusedNode(batch_norm, 3);
  const auto masked = [](int64_t masks) {
    return MakeNode("_MklNativeFusedSoftmax", {{"num_masks", AttrValue(masks)},
                                               {"num_conditions", AttrValue(int64_t{0})},
                                               {"scale", AttrValue(0.125f)}});
  };
  const Node layer_norm = MakeNode("_MklNativeAddLayerNorm", {{"epsilon", AttrValue(1e-6f)}});
  const auto concat = [](int64_t n) {
    return MakeNode("_MklNativeConcatV2", {{"N", AttrValue(n)}});
  };
  return {
      {"densenet_bn_relu_56x56x256", norm, {{1, 56, 56, 256}, {256}, {256}}, {}},
      {"densenet_bn_relu_56x56x64", norm, {{1, 56, 56, 64}, {64}, {64}}, {}},
      {"densenet_bn_relu_28x28x512", norm, {{1, 28, 28, 512}, {512}, {512}}, {}},
      {"densenet_bn_relu_14x14x1024", norm, {{1, 14, 14, 1024}, {1024}, {1024}}, {}},
      {"densenet_bn_relu_7x7x992", norm, {{1, 7, 7, 992}, {992}, {992}}, {}},
      {"densenet_concat_28x28x480", concat(2), {{1, 28, 28, 480}, {1, 28, 28, 32}}, {3}, true},
      {"densenet_concat_56x56x224", concat(2), {{1, 56, 56, 224}, {1, 56, 56, 32}}, {3}, true},
      {"efficientnet_scale_112x112x32",
       MakeNode("_MklNativeMul"),
       {{1, 112, 112, 32}, {1, 1, 1, 32}},
       {}},
      {"efficientnet_scale_14x14x672",
       MakeNode("_MklNativeMul"),
       {{1, 14, 14, 672}, {1, 1, 1, 672}},
       {}},
      {"efficientnet_pool_112x112x32", MakeNode("_MklNativeMean"), {{1, 112, 112, 32}}, {1, 2}},
      {"efficientnet_pool_14x14x672", MakeNode("_MklNativeMean"), {{1, 14, 14, 672}}, {1, 2}},
      {"efficientnet_pool_7x7x1280", MakeNode("_MklNativeMean"), {{1, 7, 7, 1280}}, {1, 2}},
      {"efficientnet_swish_112x112x96", MakeNode("_MklNativeSwish"), {{1, 112, 112, 96}}, {}},
      {"resnet_add_56x56x256",
       MakeNode("_MklNativeAddV2"),
       {{1, 56, 56, 256}, {1, 56, 56, 256}},
       {}},
      {"resnet_relu_56x56x256", MakeNode("_MklNativeRelu"), {{1, 56, 56, 256}}, {}},
      {"bert_add_layer_norm_128x768", layer_norm, {{1, 128, 768}, {1, 128, 768}, {768}, {768}}, {}},
      {"bert_softmax_12x128x128", masked(0), {{1, 12, 128, 128}}, {}},
      {"bert_masked_softmax_12x128x128", masked(1), {{1, 12, 128, 128}, {1, 1, 1, 128}}, {}},
      {"bert_gelu_128x3072", MakeNode("_MklNativeGeluExact"), {{1, 128, 3072}}, {}},
      {"bert_gelu_tanh_128x3072", MakeNode("_MklNativeGeluApproximate"), {{1, 128, 3072}}, {}},
      {"bert_tanh_128x768", MakeNode("_MklNativeTanh"), {{1, 128, 768}}, {}},
      {"bert_exp_128x768", MakeNode("_MklNativeExp"), {{1, 128, 768}}, {}},
      {"bert_heads_transpose", MakeNode("_MklNativeTranspose"), {{1, 128, 12, 64}}, {0, 2, 1, 3}},
      {"bert_keys_transpose", MakeNode("_MklNativeTranspose"), {{1, 128, 12, 64}}, {0, 2, 3, 1}},
      {"nhwc_to_nchw_56x56x256", MakeNode("_MklNativeTranspose"), {{1, 56, 56, 256}}, {0, 3, 1, 2}},
      {"mlp_relu_1x1024", MakeNode("_MklNativeRelu"), {{1, 1024}}, {}},
      {"mlp_sigmoid_1x1", MakeNode("_MklNativeSigmoid"), {{1, 1}}, {}},
  };
}

void Run(benchmark::State& state, const Case& c) {
  std::vector<Tensor> inputs;
  for (const Shape& s : c.shapes) {
    inputs.push_back(*Tensor::Allocate(DType::kFloat, s));
    for (int64_t i = 0; i < s.num_elements(); ++i) {
      inputs.back().data<float>()[i] = static_cast<float>(i % 97) * 0.05f - 2;
    }
  }
  if (c.scalar_extra) inputs.push_back(Tensor::Scalar<int32_t>(c.extra[0]));
  if (!c.scalar_extra && !c.extra.empty()) inputs.push_back(Tensor::Vector<int32_t>(c.extra));
  Node node = c.node;
  node.attrs["Tidx"] = AttrValue(DType::kInt32);
  node.attrs["Tperm"] = AttrValue(DType::kInt32);
  MeasureKernel(state, node, inputs);
}

const bool registered = [] {
  for (const Case& c : Cases()) {
    benchmark::RegisterBenchmark(c.name, [c](benchmark::State& s) { Run(s, c); })
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
}  // namespace tenon

BENCHMARK_MAIN();
