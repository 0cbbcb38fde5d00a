// Quantized contractions: the accelerated kernel is used if sums of 8-bit products are exact; it
// follows ranges that change from run to run, and its results match the reference kernel's, with
// the cache on and off, from several threads.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "env/flags.h"
#include "kernels/quantized/exact_product.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "primitive_cache/cache.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

Tensor Integers(DType dtype, const Shape& shape, int low, int high) {
  static std::mt19937 engine(11);
  Tensor t = *Tensor::Allocate(dtype, shape);
  std::uniform_int_distribution<int> uniform(low, high);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<uint8_t>()[i] = static_cast<uint8_t>(uniform(engine));
  }
  return t;
}

Node ConvNode() {
  Node node;
  node.name = "conv";
  node.op = "QuantizedConv2DWithBiasAndReluAndRequantize";
  node.attrs["Tinput"] = DType::kQuint8;
  node.attrs["Tfilter"] = DType::kQint8;
  node.attrs["Tbias"] = DType::kFloat;
  node.attrs["strides"] = std::vector<int64_t>{1, 1, 1, 1};
  node.attrs["padding"] = "SAME";
  EXPECT_TRUE(CompleteAttrs(*FindOp(node.op).info, node).ok());
  return node;
}

// data, filter, bias, ranges of data, filter and result.
std::vector<Tensor> Inputs(float data_max, float result_max) {
  return {Integers(DType::kQuint8, Shape({2, 9, 7, 24}), 0, 255),
          Integers(DType::kQint8, Shape({3, 3, 24, 16}), -127, 127),
          Tensor::Vector(std::vector<float>(16, 0.5f)),
          Tensor::Scalar(0.0f),
          Tensor::Scalar(data_max),
          Tensor::Scalar(-1.0f),
          Tensor::Scalar(1.0f),
          Tensor::Scalar(0.0f),
          Tensor::Scalar(result_max)};
}

// At most one scale apart: a tie may round either way.
void ExpectClose(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  int varied = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const int x = a.data<uint8_t>()[i], y = b.data<uint8_t>()[i];
    ASSERT_LE(std::abs(x - y), 1) << "element " << i;
    varied += x > 0 && x < 255;
  }
  EXPECT_GT(varied, a.num_elements() / 8) << "the case saturates";
}

// Ranges that no float can subtract, empty, unordered, or NaN: the result is a status or some
// numbers, never undefined behavior (checked when sanitizers run this test).
TEST(QuantizedMath, TakesAnyRange) {
  const Flags flags;
  const Services services{&flags, nullptr, 1};
  const float inf = std::numeric_limits<float>::infinity();
  const std::pair<float, float> ranges[] = {
      {-3e38f, 3e38f}, {1e30f, 2e30f}, {1e-38f, 2e-38f},  {0, 0},
      {5, -5},         {-inf, inf},    {std::nanf(""), 1}};
  struct Case {
    const char* op;
    AttrMap attrs;
    std::vector<Tensor> inputs;
    int ranges;
  };
  const Tensor q8 = Integers(DType::kQuint8, Shape({2, 3}), 0, 255);
  Tensor q32 = *Tensor::Allocate(DType::kQint32, Shape({3}));
  for (int i = 0; i < 3; ++i) q32.data<int32_t>()[i] = i == 0 ? INT32_MIN : i == 1 ? 0 : INT32_MAX;
  const Tensor real = Tensor::Vector(std::vector<float>{-inf, inf, std::nanf("")});
  const DType u8 = DType::kQuint8, i32 = DType::kQint32;
  const Case cases[] = {
      {"QuantizedAdd", {{"T1", u8}, {"T2", u8}}, {q8, q8}, 2},
      {"QuantizedMul", {{"T1", u8}, {"T2", u8}}, {q8, q8}, 2},
      {"QuantizedRelu6", {{"Tinput", u8}}, {q8}, 1},
      {"Requantize", {{"Tinput", i32}, {"out_type", u8}}, {q32}, 2},
      {"Requantize", {{"Tinput", i32}, {"out_type", DType::kQint8}}, {q32}, 2},
      {"QuantizeDownAndShrinkRange", {{"Tinput", i32}, {"out_type", u8}}, {q32}, 1},
      {"QuantizeV2", {{"T", u8}}, {real}, 1},
      {"QuantizeV2", {{"T", i32}, {"mode", "SCALED"}}, {real}, 1},
      {"QuantizeV2", {{"T", DType::kQint8}, {"mode", "MIN_FIRST"}}, {real}, 1},
      {"Dequantize", {{"T", u8}, {"mode", "MIN_FIRST"}}, {q8}, 1},
      {"FakeQuantWithMinMaxVars", {}, {real}, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    Node node;
    node.name = "case";
    node.op = c.op;
    node.attrs = c.attrs;
    ASSERT_TRUE(CompleteAttrs(*FindOp(c.op).info, node).ok());
    for (const auto& [a_min, a_max] : ranges) {
      for (const auto& [b_min, b_max] : ranges) {
        std::vector<Tensor> inputs = c.inputs;
        inputs.insert(inputs.end(), {Tensor::Scalar(a_min), Tensor::Scalar(a_max)});
        if (c.ranges == 2)
          inputs.insert(inputs.end(), {Tensor::Scalar(b_min), Tensor::Scalar(b_max)});
        for (const char* name : {c.op, FindOp(c.op).info->row.native}) {
          if (name == nullptr) continue;
          node.op = name;
          const auto out = Evaluate(node, inputs, services);
          EXPECT_TRUE(out.ok() || absl::IsInvalidArgument(out.status())) << out.status();
        }
      }
    }
  }
}

class QuantizedConv : public ::testing::Test {
 protected:
  // The native kernel, with a constant filter and bias or without; ranges are fed.
  absl::StatusOr<PreparedKernel> Prepare(const std::vector<Tensor>& inputs,
                                         bool constant_weights = true) {
    std::vector<TensorSpec> specs;
    std::vector<Constant*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool constant = constant_weights && (i == 1 || i == 2);
      specs.push_back({inputs[i].dtype(), inputs[i].shape(), constant ? &inputs[i] : nullptr});
      constants_.push_back(constant ? std::make_unique<Constant>(inputs[i]) : nullptr);
      pointers.push_back(constants_.back().get());
    }
    Node native = ConvNode();
    native.op = FindOp(native.op).info->row.native;
    return PrepareNode(native, specs, pointers, services_);
  }
  Tensor Reference(const std::vector<Tensor>& inputs) {
    auto out = Evaluate(ConvNode(), inputs, services_);
    EXPECT_TRUE(out.ok()) << out.status();
    return (*out)[0];
  }

  Flags flags_;
  PrimitiveCache cache_;
  Services services_{&flags_, &cache_, 2};
  std::vector<std::unique_ptr<Constant>> constants_;
};

TEST_F(QuantizedConv, SumsAreExactOnEveryCpu) {
  for (const bool constant : {true, false}) {
    const auto prepared = Prepare(Inputs(6, 60), constant);
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_TRUE(prepared->accelerated);
    const std::string kernel = prepared->kernel->Implementation();
    if (HasExactInt8()) {
      EXPECT_TRUE(absl::StrContains(kernel, "vnni") || absl::StrContains(kernel, "amx")) << kernel;
    } else if (constant) {
      EXPECT_TRUE(absl::StartsWith(kernel, "integers:")) << kernel;
    } else {
      EXPECT_EQ(kernel, "float products");
    }
  }
}

TEST_F(QuantizedConv, FollowsRangesThatChange) {
  std::vector<Tensor> inputs = Inputs(6, 60);
  for (PrimitiveCache* cache : {&cache_, static_cast<PrimitiveCache*>(nullptr)}) {
    services_.cache = cache;
    const auto prepared = Prepare(inputs);
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    for (const auto& [data_max, result_max] : {std::pair(6.0f, 60.0f), std::pair(3.0f, 60.0f),
                                               std::pair(6.0f, 100.0f), std::pair(6.0f, 60.0f)}) {
      inputs[4] = Tensor::Scalar(data_max);
      inputs[8] = Tensor::Scalar(result_max);
      const auto got = RunKernel(*prepared, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      ExpectClose((*got)[0], Reference(inputs));
      EXPECT_EQ((*got)[2].data<float>()[0], result_max);
    }
  }
}

TEST_F(QuantizedConv, RunsOnSeveralThreadsWithDifferentRanges) {
  const std::vector<Tensor> inputs = Inputs(6, 60);
  const auto prepared = Prepare(inputs);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Tensor> own = inputs;
      own[8] = Tensor::Scalar(40.0f + 20.0f * static_cast<float>(t % 2));
      const Tensor want = Reference(own);
      for (int i = 0; i < 8; ++i) {
        const auto got = RunKernel(*prepared, own);
        ASSERT_TRUE(got.ok()) << got.status();
        ExpectClose((*got)[0], want);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Every sum has its largest value, over several tiles of rows and blocks of terms.
TEST(ExactProduct, LargestSumsOverPieces) {
  const Flags flags;
  const Services services{&flags, nullptr, 2};
  constexpr int64_t kRows = 300, kTerms = 1100, kColumns = 5;
  const auto product = ExactProduct::Make(kRows, kTerms, kColumns, services);
  ASSERT_TRUE(product.ok()) << product.status();
  std::vector<float> right(kTerms * kColumns, -128);
  for (int64_t k = 0; k < kTerms; ++k) right[static_cast<size_t>(k * kColumns + 4)] = 127;
  const auto fill = [](int64_t begin, int64_t end, float* left) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t k = 0; k < kTerms; ++k) *left++ = k % 7 == i % 7 ? 254.0f : 255.0f;
    }
  };
  std::vector<int32_t> sums(kRows * kColumns);
  const Shape bytes({static_cast<int64_t>(product->scratch_bytes())});
  Tensor scratch = *Tensor::Allocate(DType::kUint8, bytes);
  ASSERT_TRUE(product->Run(fill, right.data(), sums.data(), scratch.raw()).ok());
  for (int64_t i = 0; i < kRows; ++i) {
    int32_t left = 0;
    for (int64_t k = 0; k < kTerms; ++k) left += k % 7 == i % 7 ? 254 : 255;
    for (int64_t j = 0; j < kColumns; ++j) {
      ASSERT_EQ(sums[static_cast<size_t>(i * kColumns + j)], left * (j == 4 ? 127 : -128));
    }
  }
}

}  // namespace
}  // namespace tenon
