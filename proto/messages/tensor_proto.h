// TensorProto and TensorShapeProto to and from tensors and shapes. Everything that a file says is
// checked: sizes, counts, negative dimensions; nothing is allocated that the file cannot back.
#ifndef TENON_PROTO_MESSAGES_TENSOR_PROTO_H_
#define TENON_PROTO_MESSAGES_TENSOR_PROTO_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon {

namespace tf {
class TensorProto;
class TensorShapeProto;
}  // namespace tf

// Reads the tensors of one model. Large contents are moved out of their messages, so it remembers
// what it read: the same message gives the same tensor again.
class TensorReader {
 public:
  absl::StatusOr<Tensor> Read(tf::TensorProto& proto);

 private:
  absl::StatusOr<Tensor> Convert(tf::TensorProto& proto);
  // A tensor that the message need not back byte by byte (all its elements may repeat one value).
  absl::StatusOr<Tensor> AllocateExpanded(DType dtype, const Shape& shape, int64_t given);

  // Bytes that values repeated by compression may still take, in the whole model.
  int64_t expansion_left_ = int64_t{1} << 31;
  absl::flat_hash_map<const tf::TensorProto*, Tensor> read_;
};

// The dtype of a number in a message; reference types (number + 100) give their base type.
// InvalidArgument for types that Tenon does not have.
absl::StatusOr<DType> DTypeFromProto(int number);

// Dimensions below -1 are InvalidArgument.
absl::StatusOr<Shape> ShapeFromProto(const tf::TensorShapeProto& proto);

void ShapeToProto(const Shape& shape, tf::TensorShapeProto& proto);
// Unimplemented for dtypes without elements (resource, variant).
absl::Status TensorToProto(const Tensor& tensor, tf::TensorProto& proto);

}  // namespace tenon

#endif  // TENON_PROTO_MESSAGES_TENSOR_PROTO_H_
