// Parses features of serialized tf.train.Example messages into tensors. Dense features have a
// shape, of which only the first size may be unknown, and is then padded; sparse and ragged ones
// have as many values as there are.
#ifndef TENON_KERNELS_EXAMPLE_PROTO_PARSE_EXAMPLE_H_
#define TENON_KERNELS_EXAMPLE_PROTO_PARSE_EXAMPLE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/example_proto/feature_column.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The requested features, by kind: dtypes, and shapes of dense ones; and the positions of inputs
// and outputs.
struct ExampleSignature {
  KeyForm keys;
  std::vector<DType> sparse, dense, ragged, splits;
  std::vector<Shape> dense_shapes;

  // If keys are attributes, there is one example, a scalar.
  bool single() const { return keys == KeyForm::kAttributes; }
  bool vectors() const { return keys == KeyForm::kVectors; }
  // Positions of inputs.
  int sparse_keys() const { return 2; }
  int dense_keys() const { return vectors() ? 3 : 2 + static_cast<int>(sparse.size()); }
  int ragged_keys() const { return 4; }
  int defaults() const {
    if (single()) return 1;
    return vectors() ? 5 : dense_keys() + static_cast<int>(dense.size());
  }
  // Positions of outputs.
  int sparse_output(size_t i, int part) const {
    return static_cast<int>(i + static_cast<size_t>(part) * sparse.size());
  }
  int dense_output(size_t i) const { return static_cast<int>(3 * sparse.size() + i); }
  int ragged_output(size_t i) const { return dense_output(dense.size() + i); }
  int splits_output(size_t i) const { return ragged_output(ragged.size() + i); }
};

// Reads the attributes. InvalidArgument if lists differ in length or a dense shape is not known.
absl::StatusOr<ExampleSignature> ReadExampleSignature(const AttrReader& attrs, KeyForm keys);

// Whether the first size of a dense shape is unknown.
bool VariableLength(const Shape& shape);

// Input 0: messages, a vector, or (single()) one message. Features are float, int64 or string.
// InvalidArgument if a message does not parse, a feature has another dtype or does not match its
// shape, or one without a default is missing.
absl::StatusOr<std::unique_ptr<Kernel>> ParseExampleKernel(PrepareContext& p, KeyForm keys);
template <KeyForm keys>
absl::StatusOr<std::unique_ptr<Kernel>> ParseExampleKernel(PrepareContext& p) {
  return ParseExampleKernel(p, keys);
}

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_PARSE_EXAMPLE_H_
