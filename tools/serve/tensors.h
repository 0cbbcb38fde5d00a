// Tensors of TensorFlow Serving's messages, to and from Tenon's.
#ifndef TENON_TOOLS_SERVE_TENSORS_H_
#define TENON_TOOLS_SERVE_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "include/tenon/tenon.hpp"
#include "tensorflow.pb.h"

namespace tenon::serve {

// A value that is repeated may make a small message a tensor of this many bytes, not more.
inline constexpr int64_t kMaxRepeatedBytes = int64_t{256} << 20;

// The bytes of an element; 0 for strings and what is not a dtype of tensors.
size_t ElementBytes(tenon_dtype dtype);

// The number of elements, or an error for negative dimensions and an overflow of the bytes.
absl::StatusOr<int64_t> CountElements(absl::string_view name, tenon_dtype dtype,
                                      const std::vector<int64_t>& dims);

// `name` is for errors. The result may be a view of the message, which must outlive it.
absl::StatusOr<Tensor> FromProto(absl::string_view name, const tensorflow::TensorProto& proto);

// A view of `bytes`, which must outlive it. Error if dtype and dims need another number of bytes.
absl::StatusOr<Tensor> FromBytes(absl::string_view name, tenon_dtype dtype,
                                 const std::vector<int64_t>& dims, absl::string_view bytes);

// In the field of the dtype, as TensorFlow Serving answers; or as tensor_content, which is faster
// to make and to read. Strings are always in string_val.
void ToProto(const Tensor& tensor, bool as_content, tensorflow::TensorProto* proto);

// The rows [begin, begin + count) along axis 0, which the result keeps alive; strings are copied.
Tensor Rows(const Tensor& tensor, int64_t begin, int64_t count);

absl::Status ToStatus(const Error& error);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_TENSORS_H_
