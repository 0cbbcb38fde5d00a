// Runs a node on its standard kernel and on its accelerated one, and compares.
#ifndef TENON_TESTS_UNIT_KERNELS_NN_TEST_UTIL_H_
#define TENON_TESTS_UNIT_KERNELS_NN_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/flags.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"
#include "primitive_cache/cache.h"

namespace tenon {

// Uniform values in low..high from a seed.
Tensor RandomTensor(DType dtype, const Shape& shape, uint32_t seed, float low = -1, float high = 1);

Node MakeNode(const std::string& op, AttrMap attrs);

struct RunOptions {
  int threads = 1;
  bool cache = true;
  bool strict_nan = false;
  bool winograd = true;
  // Inputs that are constants of the session (weights).
  std::vector<int> constants = {};
  // Lay the output over an input that the kernel allows.
  bool in_place = false;
};

struct RunResult {
  std::vector<Tensor> outputs;
  bool accelerated = false;
  std::string implementation;
  bool was_in_place = false;
};

absl::StatusOr<RunResult> RunNode(const Node& node, const std::vector<Tensor>& inputs,
                                  const RunOptions& options);

// Largest |a - b| over the largest |b| (at least 1); infinite where one has NaN or an infinity
// that the other has not.
double RelativeError(const Tensor& a, const Tensor& b);

// `op`'s native name against its plain name on the same inputs. Sums of `length` products.
void ExpectNativeMatches(const std::string& op, const AttrMap& attrs,
                         const std::vector<Tensor>& inputs, const RunOptions& options,
                         int64_t length, bool must_accelerate = true);

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_KERNELS_NN_TEST_UTIL_H_
