// Gradients of activations, roots, losses and LRN, compared with numeric differentiation; LRN and
// losses accelerated against reference at sizes that goldens do not have.
#include <gtest/gtest.h>

#include "tests/support/numeric_gradient.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> First(const std::string& op, const AttrMap& attrs,
                             const std::vector<Tensor>& inputs, size_t output = 0) {
  auto r = RunNode(MakeNode(op, attrs), inputs, {});
  if (!r.ok()) return r.status();
  return r->outputs[output];
}

enum class Reads { kFeatures, kOutputs, kOutputsFirst };  // (dy, x), (dy, y), (y, dy)

struct Activation {
  const char* op;
  Reads reads;
  double low, high;
};

// Values in low..high, none within 0.02 of a kink at 0 or 6.
Tensor AwayFromKinks(DType dtype, double low, double high) {
  Tensor t = *Tensor::Allocate(dtype, Shape({60}));
  for (int64_t i = 0; i < 60; ++i) {
    double v = low + (high - low) * (static_cast<double>(i) + 0.5) / 60;
    for (const double kink : {0.0, 6.0}) {
      if (std::abs(v - kink) < 0.02) v += 0.04;
    }
    if (dtype == DType::kDouble) {
      t.data<double>()[i] = v;
    } else {
      t.data<float>()[i] = static_cast<float>(v);
    }
  }
  return t;
}

TEST(Gradient, Activations) {
  for (const Activation& a :
       {Activation{"Relu", Reads::kFeatures, -3, 3}, Activation{"Relu6", Reads::kFeatures, -3, 9},
        Activation{"LeakyRelu", Reads::kFeatures, -3, 3},
        Activation{"Softplus", Reads::kFeatures, -9, 9},
        Activation{"Softsign", Reads::kFeatures, -4, 4}, Activation{"Elu", Reads::kOutputs, -4, 3},
        Activation{"Selu", Reads::kOutputs, -4, 3}, Activation{"Tanh", Reads::kOutputsFirst, -3, 3},
        Activation{"Sigmoid", Reads::kOutputsFirst, -5, 5},
        Activation{"Sqrt", Reads::kOutputsFirst, 0.5, 4},
        Activation{"Rsqrt", Reads::kOutputsFirst, 0.5, 4},
        Activation{"Inv", Reads::kOutputsFirst, 0.5, 4},
        Activation{"Reciprocal", Reads::kOutputsFirst, 0.5, 4}}) {
    for (const DType dtype : {DType::kDouble, DType::kFloat}) {
      const AttrMap attrs{{"T", dtype}};
      const Tensor x = AwayFromKinks(dtype, a.low, a.high);
      const Tensor dy = RandomTensor(dtype, x.shape(), 2);
      const auto y = First(a.op, attrs, {x});
      ASSERT_TRUE(y.ok()) << a.op << y.status();
      std::vector<Tensor> inputs = {dy, x};
      if (a.reads == Reads::kOutputs) inputs = {dy, *y};
      if (a.reads == Reads::kOutputsFirst) inputs = {*y, dy};
      for (const char* prefix : {"", "_MklNative"}) {
        SCOPED_TRACE(absl::StrCat(prefix, a.op, " ", Name(dtype)));
        const auto dx = First(absl::StrCat(prefix, a.op, "Grad"), attrs, inputs);
        ASSERT_TRUE(dx.ok()) << dx.status();
        testing::ExpectNumericGradient([&](const Tensor& at) { return First(a.op, attrs, {at}); },
                                       x, dy, *dx, {.third_derivative = 100});
      }
    }
  }
}

TEST(Gradient, CrossEntropies) {
  for (const DType dtype : {DType::kDouble, DType::kFloat}) {
    const Tensor logits = RandomTensor(dtype, {3, 5}, 1, -2, 2);
    Tensor ones = *Tensor::Allocate(dtype, Shape({3}));
    for (int64_t i = 0; i < 3; ++i) {
      dtype == DType::kDouble ? ones.data<double>()[i] = 1 : ones.data<float>()[i] = 1;
    }
    // Labels must sum to one for softmax's derivative.
    const auto labels = First("Softmax", {{"T", dtype}}, {RandomTensor(dtype, {3, 5}, 2)});
    ASSERT_TRUE(labels.ok());
    const AttrMap attrs{{"T", dtype}, {"Tlabels", DType::kInt32}};
    for (const char* prefix : {"", "_MklNative"}) {
      for (const bool sparse : {false, true}) {
        const std::string op =
            absl::StrCat(prefix, sparse ? "Sparse" : "", "SoftmaxCrossEntropyWithLogits");
        SCOPED_TRACE(op);
        const Tensor second = sparse ? Tensor::Vector<int32_t>({4, 0, 2}) : *labels;
        const auto backprop = First(op, attrs, {logits, second}, 1);
        ASSERT_TRUE(backprop.ok()) << backprop.status();
        testing::ExpectNumericGradient(
            [&](const Tensor& at) {
              return First(op, attrs, {at, second});
            },
            logits, ones, *backprop);
      }
    }
  }
}

TEST(Gradient, Lrn) {
  for (const float beta : {0.5f, 0.75f, 1.0f, 0.3f}) {
    AttrMap attrs{{"T", DType::kFloat}, {"depth_radius", int64_t{2}}, {"alpha", 0.4f}};
    attrs["beta"] = beta;
    const Tensor x = RandomTensor(DType::kFloat, {1, 2, 2, 9}, 1, -2, 2);
    const Tensor dy = RandomTensor(DType::kFloat, x.shape(), 2);
    const auto y = First("LRN", attrs, {x});
    ASSERT_TRUE(y.ok()) << y.status();
    for (const char* op : {"LRNGrad", "_MklNativeLRNGrad"}) {
      const auto dx = First(op, attrs, {dy, x, *y});
      ASSERT_TRUE(dx.ok()) << dx.status();
      testing::ExpectNumericGradient([&](const Tensor& at) { return First("LRN", attrs, {at}); }, x,
                                     dy, *dx, {.third_derivative = 10});
    }
  }
}

TEST(Lrn, AcceleratedMatchesStandard) {
  for (const DType dtype : {DType::kFloat, DType::kBfloat16}) {
    for (const int64_t channels : {1, 7, 96, 257}) {
      for (const int64_t radius : {0, 2, 5}) {
        const AttrMap attrs{
            {"T", dtype}, {"depth_radius", radius}, {"alpha", 0.3f}, {"beta", 0.75f}};
        const Tensor x = RandomTensor(dtype, {2, 13, 11, channels}, 1);
        const Tensor y = RandomTensor(dtype, x.shape(), 2), dy = RandomTensor(dtype, x.shape(), 3);
        for (const int threads : {1, 2}) {
          // Sums of at most 11 terms, then a power.
          ExpectNativeMatches("LRN", attrs, {x}, {.threads = threads, .in_place = threads > 1}, 11);
          ExpectNativeMatches("LRNGrad", attrs, {dy, x, y},
                              {.threads = threads, .in_place = threads > 1}, 22);
        }
      }
    }
  }
}

TEST(CrossEntropy, AcceleratedMatchesStandard) {
  for (const DType dtype : {DType::kFloat, DType::kBfloat16}) {
    const Tensor logits = RandomTensor(dtype, {300, 1000}, 1, -5, 5);
    const Tensor labels = RandomTensor(dtype, {300, 1000}, 2, 0, 0.002f);
    for (const int threads : {1, 2}) {
      // The loss sums 1000 terms.
      ExpectNativeMatches("SoftmaxCrossEntropyWithLogits", {{"T", dtype}}, {logits, labels},
                          {.threads = threads, .in_place = threads > 1}, 1000);
    }
  }
}

}  // namespace
}  // namespace tenon
