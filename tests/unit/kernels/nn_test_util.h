// Runs a node on its reference kernel and on its accelerated kernel, and compares the results.
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

// Seeded uniform values in low..high.
Tensor RandomTensor(DType dtype, const Shape& shape, uint32_t seed, float low = -1, float high = 1);

// The numbers of a bfloat16 tensor.
Tensor ToFloat(const Tensor& t);

Node MakeNode(const std::string& op, AttrMap attrs);

struct NodeRunOptions {
  int threads = 1;
  bool cache = true;
  bool strict_nan = false;
  bool winograd = true;
  int64_t tiles = 1;  // TENON_TILES
  // Inputs that are session constants (weights).
  std::vector<int> constants = {};
  // Whether to place the output over an input if the kernel allows it.
  bool in_place = false;
};

struct RunResult {
  std::vector<Tensor> outputs;
  bool accelerated = false;
  std::string implementation;
  bool was_in_place = false;
};

absl::StatusOr<RunResult> RunNode(const Node& node, const std::vector<Tensor>& inputs,
                                  const NodeRunOptions& options);

// The largest |a - b| over the largest |b| (at least 1); infinite if only one has NaN or an
// infinity.
double RelativeError(const Tensor& a, const Tensor& b);

// Compares `op`'s native name with its plain name on the same inputs, for sums of `length`
// products.
void ExpectNativeMatches(const std::string& op, const AttrMap& attrs,
                         const std::vector<Tensor>& inputs, const NodeRunOptions& options,
                         int64_t length, bool must_accelerate = true);

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_KERNELS_NN_TEST_UTIL_H_
