// Runs a kernel factory on tensors, and compares the results with a reference in double.
#ifndef TENON_TESTS_UNIT_KERNELS_SUPPORT_H_
#define TENON_TESTS_UNIT_KERNELS_SUPPORT_H_

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "kernels/interface/kernel.h"

namespace tenon::vector_test {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

inline Node MakeNode(const std::string& op) {
  Node node;
  node.id = 0;
  node.name.push_back('n');
  node.op = op;
  return node;
}

// The element of `t` that broadcasting maps to flat position `i` of `out`.
inline float At(const Tensor& t, const Shape& out, int64_t i) {
  int64_t index = 0, stride = 1;
  for (int d = out.rank() - 1; d >= 0; --d) {
    const int64_t at = i % out.dim(d);
    i /= out.dim(d);
    const int own = d - (out.rank() - t.shape().rank());
    if (own < 0) continue;
    if (t.shape().dim(own) != 1) index += at * stride;
    stride *= t.shape().dim(own);
  }
  return t.data<float>()[index];
}

// A kernel factory, or a lambda that passes on what it captured.
using FactoryRef = absl::FunctionRef<absl::StatusOr<std::unique_ptr<Kernel>>(PrepareContext&)>;

// Prepares `factory` for the tensors (with known values) and runs it once.
inline absl::StatusOr<std::vector<Tensor>> RunFactory(FactoryRef factory, const Node& node,
                                                      const std::vector<Tensor>& inputs,
                                                      const std::vector<Shape>& output_shapes,
                                                      int threads = 1,
                                                      DType output_dtype = DType::kInvalid) {
  std::vector<TensorSpec> in, out;
  for (const Tensor& t : inputs) in.push_back({t.dtype(), t.shape(), &t});
  for (const Shape& s : output_shapes) {
    out.push_back({output_dtype == DType::kInvalid ? inputs[0].dtype() : output_dtype, s, nullptr});
  }
  Flags flags;
  Services services;
  services.flags = &flags;
  services.threads = threads;
  PrepareContext prepare(node, in, {}, out, services);
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, factory(prepare));
  std::vector<Tensor> outputs;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Tensor& t : inputs) from.push_back(t.raw());
  for (const TensorSpec& s : out) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(s.dtype, s.shape));
    std::memset(t.raw(), 0xff, t.bytes());
    outputs.push_back(std::move(t));
    to.push_back(outputs.back().raw());
  }
  TENON_ASSIGN_OR_RETURN(
      Tensor scratch,
      Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepare.scratch_bytes())})));
  std::memset(scratch.raw(), 0xff, scratch.bytes());
  RunContext run(from.data(), to.data(), scratch.raw());
  TENON_RETURN_IF_ERROR(kernel->Run(run));
  return outputs;
}

inline Tensor Uniform(const Shape& shape, unsigned seed, float low = -2, float high = 2) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> value(low, high);
  Tensor t = *Tensor::Allocate(DType::kFloat, shape);
  for (float& v : t.flat<float>()) v = value(rng);
  return t;
}

// |got - expected| in units in the last place of a float near `expected` (near 0, of the smallest
// normal float). 0 if both are NaN or the same infinity, infinite if only one is.
inline double Ulps(float got, double expected) {
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected) ? 0 : kInf;
  }
  const float rounded = static_cast<float>(expected);
  if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0 : kInf;
  const double size = std::max(std::fabs(expected), 1.1754943508222875e-38);
  const double ulp = std::ldexp(1.0, std::ilogb(size) - 23);
  return std::fabs(got - expected) / ulp;
}

// A test that runs on each instruction set that this CPU supports and the kernels are compiled for.
struct Target {
  int64_t bit;
  friend void PrintTo(const Target& t, std::ostream* os) { *os << hwy::TargetName(t.bit); }
};

inline std::vector<Target> Targets() {
  std::vector<Target> targets;
  for (const int64_t bit : {HWY_AVX3, HWY_AVX2, HWY_SSE4}) {
    if ((hwy::SupportedTargets() & bit) != 0) targets.push_back({bit});
  }
  return targets;
}

inline void UseTarget(int64_t bit) {  // 0: back to the best one
  hwy::SetSupportedTargetsForTest(bit);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <typename Case>
class TargetTest : public testing::TestWithParam<std::tuple<Target, Case>> {
 protected:
  void SetUp() override { UseTarget(std::get<0>(this->GetParam()).bit); }
  void TearDown() override { UseTarget(0); }
  const Case& GetCase() const { return std::get<1>(this->GetParam()); }
};

}  // namespace tenon::vector_test

#endif  // TENON_TESTS_UNIT_KERNELS_SUPPORT_H_
