#include "tools/serve/tensors.h"

#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tenon::serve {
namespace {

using tensorflow::TensorProto;

absl::StatusOr<Tensor> View(tenon_dtype dtype, const std::vector<int64_t>& dims, const void* data,
                            size_t bytes) {
  try {
    if (bytes == 0) return Tensor::Create(dtype, dims);
    tenon_tensor* tensor = nullptr;
    Check(tenon_tensor_view(dtype, dims.data(), static_cast<int>(dims.size()),
                            const_cast<void*>(data), bytes, nullptr, nullptr, &tensor));
    return Tensor(tensor);
  } catch (const Error& error) {
    return ToStatus(error);
  }
}

// `values` in the memory's type To: viewed if they are stored alike and complete, otherwise copied,
// with the last one repeated. `per_element`: values that make an element (complex numbers: 2).
template <typename To, typename Values>
absl::StatusOr<Tensor> FromValues(absl::string_view name, tenon_dtype dtype,
                                  const std::vector<int64_t>& dims, int64_t elements,
                                  const Values& values, int per_element = 1) {
  using From = typename Values::value_type;
  const int64_t wanted = elements * per_element;
  const int64_t have = values.size();
  if (have > wanted || (have == 0 && wanted > 0) || have % per_element != 0) {
    return absl::InvalidArgumentError(absl::StrCat("tensor parsing error: ", name));
  }
  if constexpr (std::is_same_v<From, To>) {
    if (have == wanted) {
      return View(dtype, dims, values.data(), static_cast<size_t>(wanted) * sizeof(To));
    }
  }
  if (have < wanted && wanted * int64_t{sizeof(To)} > kMaxRepeatedBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor parsing error: ", name, ": too many repeated values"));
  }
  try {
    Tensor tensor = Tensor::Create(dtype, dims);
    To* out = static_cast<To*>(tenon_tensor_data(tensor.get()));
    for (int64_t i = 0; i < wanted; ++i) {
      const int64_t from = i < have ? i : have - per_element + i % per_element;
      out[i] = static_cast<To>(values.Get(static_cast<int>(from)));
    }
    return tensor;
  } catch (const Error& error) {
    return ToStatus(error);
  }
}

absl::StatusOr<Tensor> FromStrings(absl::string_view name, const std::vector<int64_t>& dims,
                                   int64_t elements, const TensorProto& proto) {
  const int have = proto.string_val_size();
  const bool repeated_too_often = have < elements && elements > kMaxRepeatedBytes / 32;
  if (have > elements || (have == 0 && elements > 0) || repeated_too_often) {
    return absl::InvalidArgumentError(absl::StrCat("tensor parsing error: ", name));
  }
  try {
    Tensor tensor = Tensor::Create(TENON_STRING, dims);
    for (int64_t i = 0; i < elements; ++i) {
      tensor.SetString(i, proto.string_val(static_cast<int>(std::min<int64_t>(i, have - 1))));
    }
    return tensor;
  } catch (const Error& error) {
    return ToStatus(error);
  }
}

// Appends the elements, which are of type From in memory, to a field of the message.
template <typename From, typename Field>
void Append(const Tensor& tensor, int per_element, Field* field) {
  const auto* data = static_cast<const From*>(tenon_tensor_data(tensor.get()));
  field->Add(data, data + tensor.num_elements() * per_element);
}

}  // namespace

absl::Status ToStatus(const Error& error) {
  return absl::Status(static_cast<absl::StatusCode>(error.code()), error.what());
}

size_t ElementBytes(tenon_dtype dtype) {
  switch (dtype) {
    case TENON_BOOL:
    case TENON_INT8:
    case TENON_UINT8:
    case TENON_QINT8:
    case TENON_QUINT8:
      return 1;
    case TENON_HALF:
    case TENON_BFLOAT16:
    case TENON_INT16:
    case TENON_UINT16:
    case TENON_QINT16:
    case TENON_QUINT16:
      return 2;
    case TENON_FLOAT:
    case TENON_INT32:
    case TENON_UINT32:
    case TENON_QINT32:
      return 4;
    case TENON_DOUBLE:
    case TENON_INT64:
    case TENON_UINT64:
    case TENON_COMPLEX64:
      return 8;
    case TENON_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

absl::StatusOr<int64_t> CountElements(absl::string_view name, tenon_dtype dtype,
                                      const std::vector<int64_t>& dims) {
  const int64_t bytes = std::max<int64_t>(1, static_cast<int64_t>(ElementBytes(dtype)));
  if (dims.size() > 254) {
    return absl::InvalidArgumentError(absl::StrCat(name, " has more than 254 dimensions"));
  }
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) {
      return absl::InvalidArgumentError(absl::StrCat(name, " has a negative dimension: ", dim));
    }
    if (dim == 0) {
      empty = true;
    } else if (count > std::numeric_limits<int64_t>::max() / bytes / dim) {
      return absl::InvalidArgumentError(absl::StrCat("the shape of ", name, " is too large"));
    } else {
      count *= dim;
    }
  }
  return empty ? 0 : count;
}

absl::StatusOr<Tensor> FromBytes(absl::string_view name, tenon_dtype dtype,
                                 const std::vector<int64_t>& dims, absl::string_view bytes) {
  const auto elements = CountElements(name, dtype, dims);
  if (!elements.ok()) return elements.status();
  const size_t element = ElementBytes(dtype);
  if (element == 0) {
    return absl::InvalidArgumentError(absl::StrCat(name, " has a dtype without plain bytes"));
  }
  const uint64_t wanted = static_cast<uint64_t>(*elements) * element;
  if (wanted != bytes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has ", bytes.size(), " bytes, but its shape needs ", wanted));
  }
  return View(dtype, dims, bytes.data(), bytes.size());
}

absl::StatusOr<Tensor> FromProto(absl::string_view name, const TensorProto& proto) {
  const auto dtype = static_cast<tenon_dtype>(proto.dtype());
  if (dtype != TENON_STRING && ElementBytes(dtype) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("tensor parsing error: ", name));
  }
  std::vector<int64_t> dims;
  for (const auto& dim : proto.tensor_shape().dim()) dims.push_back(dim.size());
  const auto elements = CountElements(name, dtype, dims);
  if (!elements.ok()) return elements.status();
  if (proto.tensor_shape().unknown_rank()) {
    return absl::InvalidArgumentError(absl::StrCat("tensor parsing error: ", name));
  }
  const int64_t n = *elements;
  if (dtype != TENON_STRING && !proto.tensor_content().empty()) {
    return FromBytes(name, dtype, dims, proto.tensor_content());
  }
  switch (dtype) {
    case TENON_STRING:
      return FromStrings(name, dims, n, proto);
    case TENON_FLOAT:
      return FromValues<float>(name, dtype, dims, n, proto.float_val());
    case TENON_DOUBLE:
      return FromValues<double>(name, dtype, dims, n, proto.double_val());
    case TENON_INT32:
    case TENON_QINT32:
      return FromValues<int32_t>(name, dtype, dims, n, proto.int_val());
    case TENON_INT16:
    case TENON_QINT16:
    case TENON_UINT16:
    case TENON_QUINT16:
      return FromValues<uint16_t>(name, dtype, dims, n, proto.int_val());
    case TENON_INT8:
    case TENON_QINT8:
    case TENON_UINT8:
    case TENON_QUINT8:
      return FromValues<uint8_t>(name, dtype, dims, n, proto.int_val());
    case TENON_HALF:
    case TENON_BFLOAT16:
      return FromValues<uint16_t>(name, dtype, dims, n, proto.half_val());
    case TENON_INT64:
      return FromValues<int64_t>(name, dtype, dims, n, proto.int64_val());
    case TENON_UINT32:
      return FromValues<uint32_t>(name, dtype, dims, n, proto.uint32_val());
    case TENON_UINT64:
      return FromValues<uint64_t>(name, dtype, dims, n, proto.uint64_val());
    case TENON_BOOL:
      return FromValues<bool>(name, dtype, dims, n, proto.bool_val());
    case TENON_COMPLEX64:
      return FromValues<float>(name, dtype, dims, n, proto.scomplex_val(), 2);
    case TENON_COMPLEX128:
      return FromValues<double>(name, dtype, dims, n, proto.dcomplex_val(), 2);
  }
  return absl::InvalidArgumentError(absl::StrCat("tensor parsing error: ", name));
}

void ToProto(const Tensor& tensor, bool as_content, TensorProto* proto) {
  const tenon_dtype dtype = tensor.dtype();
  proto->set_dtype(static_cast<tensorflow::DataType>(dtype));
  auto* shape = proto->mutable_tensor_shape();
  for (const int64_t dim : tensor.dims()) shape->add_dim()->set_size(dim);
  if (dtype == TENON_STRING) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) proto->add_string_val(tensor.GetString(i));
    return;
  }
  if (as_content) {
    proto->set_tensor_content(tenon_tensor_data(tensor.get()), tensor.bytes());
    return;
  }
  switch (dtype) {
    case TENON_FLOAT:
      return Append<float>(tensor, 1, proto->mutable_float_val());
    case TENON_DOUBLE:
      return Append<double>(tensor, 1, proto->mutable_double_val());
    case TENON_INT32:
    case TENON_QINT32:
      return Append<int32_t>(tensor, 1, proto->mutable_int_val());
    case TENON_INT16:
    case TENON_QINT16:
      return Append<int16_t>(tensor, 1, proto->mutable_int_val());
    case TENON_UINT16:
    case TENON_QUINT16:
      return Append<uint16_t>(tensor, 1, proto->mutable_int_val());
    case TENON_INT8:
    case TENON_QINT8:
      return Append<int8_t>(tensor, 1, proto->mutable_int_val());
    case TENON_UINT8:
    case TENON_QUINT8:
      return Append<uint8_t>(tensor, 1, proto->mutable_int_val());
    case TENON_HALF:
    case TENON_BFLOAT16:
      return Append<uint16_t>(tensor, 1, proto->mutable_half_val());
    case TENON_INT64:
      return Append<int64_t>(tensor, 1, proto->mutable_int64_val());
    case TENON_UINT32:
      return Append<uint32_t>(tensor, 1, proto->mutable_uint32_val());
    case TENON_UINT64:
      return Append<uint64_t>(tensor, 1, proto->mutable_uint64_val());
    case TENON_BOOL:
      return Append<bool>(tensor, 1, proto->mutable_bool_val());
    case TENON_COMPLEX64:
      return Append<float>(tensor, 2, proto->mutable_scomplex_val());
    case TENON_COMPLEX128:
      return Append<double>(tensor, 2, proto->mutable_dcomplex_val());
    case TENON_STRING:
      return;
  }
}

Tensor Rows(const Tensor& tensor, int64_t begin, int64_t count) {
  std::vector<int64_t> dims = tensor.dims();
  const int64_t row = dims[0] == 0 ? 0 : tensor.num_elements() / dims[0];
  dims[0] = count;
  if (tensor.dtype() == TENON_STRING) {
    Tensor part = Tensor::Create(TENON_STRING, dims);
    for (int64_t i = 0; i < count * row; ++i) {
      part.SetString(i, tensor.GetString(begin * row + i));
    }
    return part;
  }
  const size_t bytes = static_cast<size_t>(row) * ElementBytes(tensor.dtype());
  if (bytes == 0 || count == 0) return Tensor::Create(tensor.dtype(), dims);
  auto owner = std::make_unique<Tensor>(tensor);
  char* const data = static_cast<char*>(tenon_tensor_data(tensor.get()));
  tenon_tensor* part = nullptr;
  Check(tenon_tensor_view(
      tensor.dtype(), dims.data(), static_cast<int>(dims.size()),
      data + static_cast<size_t>(begin) * bytes, static_cast<size_t>(count) * bytes,
      [](void* argument) { delete static_cast<Tensor*>(argument); }, owner.get(), &part));
  owner.release();
  return Tensor(part);
}

}  // namespace tenon::serve
