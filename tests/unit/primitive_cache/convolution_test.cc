// Convolutions against loops in double: what the API of oneDNN expresses in different ways from
// version to version (scales, zero points, parameters of post-ops, layouts of weights).
#include "primitive_cache/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "absl/status/status.h"
#include "primitive_cache/onednn/onednn.h"

namespace tenon {
namespace {

constexpr int64_t kSize = 5, kWindow = 3, kChannels = 16;

TensorDesc Image(ElementType type) {
  constexpr int64_t c = kChannels;
  return {type, {1, c, kSize, kSize}, {c * kSize * kSize, 1, c * kSize, c}};
}

// A 3x3 convolution that keeps the image's size; depthwise if `grouped`.
ConvolutionProblem Problem(ElementType source, ElementType weights, ElementType result,
                           bool grouped = false) {
  ConvolutionProblem p;
  p.src = Image(source);
  p.dst = Image(result);
  p.grouped = grouped;
  if (grouped) {
    p.weights = {
        weights, {kChannels, 1, 1, kWindow, kWindow}, {1, 1, 1, kWindow * kChannels, kChannels}};
  } else {
    constexpr int64_t c = kChannels;
    p.weights = {weights, {c, c, kWindow, kWindow}, {1, c, kWindow * c * c, c * c}};
  }
  p.strides = p.dilations = p.pads_begin = p.pads_end = {1, 1};
  return p;
}

struct Data {
  std::vector<double> src, weights, bias, operand;
};

// Small whole numbers, which all element types represent.
Data MakeData(const ConvolutionProblem& p) {
  std::mt19937 random(7);
  auto draw = [&random](int64_t n, int low, int high) {
    std::vector<double> values(static_cast<size_t>(n));
    for (double& v : values)
      v = low + static_cast<int>(random() % static_cast<uint32_t>(high - low));
    return values;
  };
  return {draw(p.src.num_elements(), p.src.type == ElementType::kU8 ? 0 : -60, 60),
          draw(p.weights.num_elements(), -20, 20), draw(kChannels, -300, 300),
          draw(p.dst.num_elements(), -50, 50)};
}

// scales * (sums + bias), before the post-ops.
std::vector<double> Products(const ConvolutionProblem& p, const Data& d) {
  std::vector<double> result(static_cast<size_t>(p.dst.num_elements()));
  for (int64_t y = 0; y < kSize; ++y) {
    for (int64_t x = 0; x < kSize; ++x) {
      for (int64_t o = 0; o < kChannels; ++o) {
        double sum = p.has_bias ? d.bias[static_cast<size_t>(o)] : 0;
        for (int64_t i = p.grouped ? o : 0; i < (p.grouped ? o + 1 : kChannels); ++i) {
          for (int64_t ky = 0; ky < kWindow; ++ky) {
            for (int64_t kx = 0; kx < kWindow; ++kx) {
              const int64_t sy = y + ky - 1, sx = x + kx - 1;
              if (sy < 0 || sx < 0 || sy >= kSize || sx >= kSize) continue;
              const int64_t w = p.grouped ? (ky * kWindow + kx) * kChannels + o
                                          : ((ky * kWindow + kx) * kChannels + i) * kChannels + o;
              sum += (d.src[static_cast<size_t>((sy * kSize + sx) * kChannels + i)] - p.src_zero) *
                     d.weights[static_cast<size_t>(w)];
            }
          }
        }
        if (!p.scales.empty()) sum *= p.scales[p.scales.size() == 1 ? 0 : static_cast<size_t>(o)];
        result[static_cast<size_t>((y * kSize + x) * kChannels + o)] = sum;
      }
    }
  }
  return result;
}

template <typename T>
std::vector<char> BytesAs(const std::vector<double>& values) {
  std::vector<T> converted(values.begin(), values.end());
  const char* const data = reinterpret_cast<const char*>(converted.data());
  return std::vector<char>(data, data + converted.size() * sizeof(T));
}
std::vector<char> Bytes(ElementType type, const std::vector<double>& values) {
  switch (type) {
    case ElementType::kS8:
      return BytesAs<int8_t>(values);
    case ElementType::kU8:
      return BytesAs<uint8_t>(values);
    default:
      return BytesAs<float>(values);
  }
}

// What the primitive computes, as numbers; the operand goes to each binary post-op.
std::vector<double> Compute(const ConvolutionProblem& p, const Data& d) {
  const auto primitive = GetConvolution(p, nullptr);
  EXPECT_TRUE(primitive.ok()) << primitive.status();
  if (!primitive.ok()) return {};
  auto aligned = [](size_t bytes) {
    return std::unique_ptr<void, decltype(&std::free)>(
        std::aligned_alloc(64, (bytes + 64) / 64 * 64), &std::free);
  };
  std::vector<char> src = Bytes(p.src.type, d.src), weights = Bytes(p.weights.type, d.weights);
  std::vector<char> bias = BytesAs<float>(d.bias), operand = BytesAs<float>(d.operand);
  std::vector<char> dst = Bytes(p.dst.type, std::vector<double>(d.operand.size()));
  std::vector<void*> arguments{src.data(), weights.data()};
  const auto layout = (*primitive)->weights_layout();
  auto packed = aligned(layout == nullptr ? 0 : layout->bytes());
  if (layout != nullptr) {
    EXPECT_TRUE(layout->Pack(weights.data(), packed.get()).ok());
    arguments[1] = packed.get();
  }
  if (p.has_bias) arguments.push_back(bias.data());
  arguments.push_back(dst.data());
  for (const PostOpSpec& op : p.post_ops) {
    if (op.binary()) arguments.push_back(operand.data());
  }
  const auto scratch = aligned((*primitive)->scratch_bytes());
  const absl::Status status = (*primitive)->Execute(arguments, scratch.get());
  EXPECT_TRUE(status.ok()) << status;
  std::vector<double> values(d.operand.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = p.dst.type == ElementType::kU8 ? static_cast<uint8_t>(dst[i])
                                               : reinterpret_cast<const float*>(dst.data())[i];
  }
  return values;
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& wanted, double error) {
  ASSERT_EQ(got.size(), wanted.size());
  double scale = 0;
  for (const double w : wanted) scale = std::max(scale, std::abs(w));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], error * std::max(scale, 1.0)) << "element " << i;
  }
}

std::vector<float> ScalePerChannel() {
  std::vector<float> scales;
  for (int64_t c = 0; c < kChannels; ++c) scales.push_back(0.001f * static_cast<float>(c + 3));
  return scales;
}

PostOpSpec EltwiseOf(Eltwise f, float alpha, float scale) {
  PostOpSpec op;
  op.eltwise = f;
  op.alpha = alpha;
  op.scale = scale;
  return op;
}

TEST(Convolution, OfIntegersScalesSumsAndBias) {
  if (!HasExactInt8()) GTEST_SKIP() << "8-bit products are not exact on this CPU";
  for (const ElementType source : {ElementType::kU8, ElementType::kS8}) {
    for (const bool grouped : {false, true}) {
      for (const bool bias : {false, true}) {
        for (const std::vector<float>& scales : {std::vector<float>{0.01f}, ScalePerChannel()}) {
          ConvolutionProblem p = Problem(source, ElementType::kS8, ElementType::kF32, grouped);
          p.has_bias = bias;
          p.scales = scales;
          const Data d = MakeData(p);
          ExpectNear(Compute(p, d), Products(p, d), 1e-6);
        }
      }
    }
  }
}

TEST(Convolution, OfIntegersAppliesZeroPoints) {
  if (!HasExactInt8()) GTEST_SKIP() << "8-bit products are not exact on this CPU";
  for (const ElementType source : {ElementType::kU8, ElementType::kS8}) {
    ConvolutionProblem p = Problem(source, ElementType::kS8, ElementType::kU8);
    p.has_bias = true;
    p.scales = ScalePerChannel();
    p.src_zero = 11;
    p.dst_zero = 100;
    const Data d = MakeData(p);
    std::vector<double> wanted = Products(p, d);
    for (double& v : wanted) v = std::clamp(v + p.dst_zero, 0.0, 255.0);
    const std::vector<double> got = Compute(p, d);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 0.501) << i;
  }
}

TEST(Convolution, ScalesActivationsBeforeTheNextPostOp) {
  for (const bool integers : {false, true}) {
    if (integers && !HasExactInt8()) continue;
    ConvolutionProblem p =
        Problem(integers ? ElementType::kU8 : ElementType::kF32,
                integers ? ElementType::kS8 : ElementType::kF32, ElementType::kF32);
    if (integers) p.scales = ScalePerChannel();
    p.has_bias = true;
    PostOpSpec product;
    product.kind = PostOpSpec::Kind::kBinaryMul;
    product.operand = p.dst;
    p.post_ops = {EltwiseOf(Eltwise::kSwish, 0.01f, 3), product};
    const Data d = MakeData(p);
    std::vector<double> wanted = Products(p, d);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double x = wanted[i];
      wanted[i] = 3 * x / (1 + std::exp(-static_cast<double>(0.01f) * x)) * d.operand[i];
    }
    ExpectNear(Compute(p, d), wanted, 1e-5);
  }
}

TEST(Convolution, AppliesHardSwish) {
  ConvolutionProblem p = Problem(ElementType::kF32, ElementType::kF32, ElementType::kF32);
  p.post_ops = {EltwiseOf(Eltwise::kHardSwish, 0, 1)};
  Data d = MakeData(p);
  for (double& v : d.src) v /= 4096;  // so that many results are between -3 and 3
  std::vector<double> wanted = Products(p, d);
  for (double& v : wanted) v *= std::clamp(v + 3, 0.0, 6.0) / 6;
  ExpectNear(Compute(p, d), wanted, 1e-5);
}

TEST(Convolution, LayoutsOfWeightsCanBeRebuilt) {
  const ConvolutionProblem p = Problem(ElementType::kF32, ElementType::kF32, ElementType::kF32);
  const auto primitive = GetConvolution(p, nullptr);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  const auto layout = (*primitive)->weights_layout();
  if (layout == nullptr) GTEST_SKIP() << "weights are not packed here";
  ASSERT_TRUE(layout->can_unpack());
  std::vector<char> plain = BytesAs<float>(MakeData(p).weights), unpacked(plain.size());
  std::vector<char> packed(layout->bytes());
  ASSERT_TRUE(layout->Pack(plain.data(), packed.data()).ok());
  const std::string text = layout->description();
  const auto rebuilt = LayoutFromDescription(text, plain.size(), packed.size(), 1);
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_EQ((*rebuilt)->key(), layout->key());
  ASSERT_TRUE((*rebuilt)->Unpack(packed.data(), unpacked.data()).ok());
  EXPECT_EQ(unpacked, plain);

  for (const std::string& wrong :
       {std::string(), text.substr(0, 20), std::string(text.size(), '\xff')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        LayoutFromDescription(wrong, plain.size(), packed.size(), 1).status()));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      LayoutFromDescription(text, plain.size() + 4, packed.size(), 1).status()));
}

// Sums for signed sources and for zero points follow packed weights: equal elements, other bytes.
// AMX multiplies signed sources without such sums.
TEST(Convolution, LayoutsOfWeightsWithDifferentSumsHaveDifferentKeys) {
  if (!HasExactInt8()) GTEST_SKIP() << "8-bit products are not exact on this CPU";
  const bool plain_signed = onednn::Allows(dnnl::cpu_isa::avx512_core_amx);
  std::set<std::string> keys;
  for (const ElementType source : {ElementType::kU8, ElementType::kS8}) {
    for (const int32_t zero : {0, 5}) {
      ConvolutionProblem p = Problem(source, ElementType::kS8, ElementType::kF32);
      p.scales = {0.5f};
      p.src_zero = zero;
      const auto primitive = GetConvolution(p, nullptr);
      ASSERT_TRUE(primitive.ok()) << primitive.status();
      const auto layout = (*primitive)->weights_layout();
      ASSERT_NE(layout, nullptr);
      EXPECT_EQ(layout->can_unpack(), (source == ElementType::kU8 || plain_signed) && zero == 0);
      keys.insert(layout->key());
    }
  }
  EXPECT_EQ(keys.size(), plain_signed ? 3 : 4);
}

}  // namespace
}  // namespace tenon
