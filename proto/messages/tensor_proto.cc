#include "proto/messages/tensor_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "env/memory_account.h"
#include "env/status.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

// At this size or above, a tensor is a view of its message's bytes instead of a copy.
constexpr size_t kMoveBytes = 1024;

// The elements of `values`, converted by `convert`; the last one is repeated to the end; zeros if
// there are none.
template <typename T, typename Values, typename Convert>
void Fill(Tensor& t, const Values& values, Convert convert) {
  T* out = t.data<T>();
  const int64_t n = t.num_elements();
  const int64_t given = values.size();
  for (int64_t i = 0; i < given; ++i) out[i] = convert(values.Get(static_cast<int>(i)));
  if (given < n) std::fill(out + given, out + n, given > 0 ? T(out[given - 1]) : T());
}

template <typename T, typename Values>
void FillCast(Tensor& t, const Values& values) {
  Fill<T>(t, values, [](auto v) { return static_cast<T>(v); });
}

template <typename T, typename Values>
void FillComplex(Tensor& t, const Values& values) {
  std::complex<T>* out = t.data<std::complex<T>>();
  const int64_t n = t.num_elements();
  const int64_t given = values.size() / 2;
  for (int64_t i = 0; i < given; ++i) {
    out[i] = {values.Get(static_cast<int>(2 * i)), values.Get(static_cast<int>(2 * i + 1))};
  }
  if (given < n) {
    std::fill(out + given, out + n, given > 0 ? std::complex<T>(out[given - 1]) : 0);
  }
}

void FillBytes(Tensor& t, const std::string& values) {
  auto* const out = t.data<char>();
  const auto n = static_cast<size_t>(t.num_elements());
  const size_t given = std::min(values.size(), n);
  std::copy_n(values.data(), given, out);
  std::fill(out + given, out + n, given > 0 ? values[given - 1] : 0);
}

// The number of elements in the typed field of `dtype`; -1 if the dtype has no such field.
int64_t GivenElements(DType dtype, const tf::TensorProto& p) {
  switch (dtype) {
    case DType::kFloat:
      return p.float_val_size();
    case DType::kDouble:
      return p.double_val_size();
    case DType::kInt32:
    case DType::kUint8:
    case DType::kInt16:
    case DType::kInt8:
    case DType::kUint16:
    case DType::kQint8:
    case DType::kQuint8:
    case DType::kQint16:
    case DType::kQuint16:
    case DType::kQint32:
    case DType::kInt4:
    case DType::kUint4:
      return p.int_val_size();
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
      return static_cast<int64_t>(p.float8_val().size());
    case DType::kString:
      return p.string_val_size();
    case DType::kComplex64:
      return p.scomplex_val_size() / 2;
    case DType::kComplex128:
      return p.dcomplex_val_size() / 2;
    case DType::kInt64:
      return p.int64_val_size();
    case DType::kBool:
      return p.bool_val_size();
    case DType::kBfloat16:
    case DType::kHalf:
      return p.half_val_size();
    case DType::kUint32:
      return p.uint32_val_size();
    case DType::kUint64:
      return p.uint64_val_size();
    default:
      return -1;
  }
}

void FillFromFields(Tensor& t, tf::TensorProto& p) {
  switch (t.dtype()) {
    case DType::kFloat:
      return FillCast<float>(t, p.float_val());
    case DType::kDouble:
      return FillCast<double>(t, p.double_val());
    case DType::kInt32:
    case DType::kQint32:
      return FillCast<int32_t>(t, p.int_val());
    case DType::kUint8:
    case DType::kQuint8:
    case DType::kUint4:
      return FillCast<uint8_t>(t, p.int_val());
    case DType::kInt8:
    case DType::kQint8:
    case DType::kInt4:
      return FillCast<int8_t>(t, p.int_val());
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
      return FillBytes(t, p.float8_val());
    case DType::kInt16:
    case DType::kQint16:
      return FillCast<int16_t>(t, p.int_val());
    case DType::kUint16:
    case DType::kQuint16:
      return FillCast<uint16_t>(t, p.int_val());
    case DType::kString:
      return Fill<std::string>(t, p.string_val(), [](const std::string& s) { return s; });
    case DType::kComplex64:
      return FillComplex<float>(t, p.scomplex_val());
    case DType::kComplex128:
      return FillComplex<double>(t, p.dcomplex_val());
    case DType::kInt64:
      return FillCast<int64_t>(t, p.int64_val());
    case DType::kBool:
      return FillCast<bool>(t, p.bool_val());
    case DType::kBfloat16:  // both are stored as 16 bits
    case DType::kHalf:
      return FillCast<uint16_t>(t, p.half_val());
    case DType::kUint32:
      return FillCast<uint32_t>(t, p.uint32_val());
    case DType::kUint64:
      return FillCast<uint64_t>(t, p.uint64_val());
    default:
      return;
  }
}

absl::StatusOr<Tensor> FromContent(DType dtype, const Shape& shape, int64_t n,
                                   tf::TensorProto& proto) {
  const size_t size = proto.tensor_content().size();
  if (size / SizeOf(dtype) != static_cast<size_t>(n) || size % SizeOf(dtype) != 0) {
    return InvalidArgument("a ", Name(dtype), " tensor of shape ", shape.ToString(), " has ", size,
                           " bytes of content");
  }
  if (size >= kMoveBytes && dtype != DType::kBool) {
    // Moved instead of released: in an arena, a release copies.
    TENON_ASSIGN_OR_RETURN(MemoryCharge charge, MemoryCharge::Of(size));
    const auto bytes = std::make_shared<std::string>(std::move(*proto.mutable_tensor_content()));
    return Tensor::FromExternal(dtype, shape, bytes->data(), std::move(charge).Attach(bytes));
  }
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, shape));
  if (dtype == DType::kBool) {
    for (size_t i = 0; i < size; ++i) t.data<bool>()[i] = proto.tensor_content()[i] != 0;
  } else {
    std::memcpy(t.raw(), proto.tensor_content().data(), size);
  }
  return t;
}

// What TensorFlow's constant folding writes: the sizes of all strings, then their bytes.
absl::StatusOr<Tensor> StringsFromContent(const Shape& shape, int64_t n,
                                          const tf::TensorProto& proto) {
  const std::string& content = proto.tensor_content();
  const auto damaged = [&] {
    return InvalidArgument("the ", content.size(), " bytes of content of a string tensor of shape ",
                           shape.ToString(), " are damaged");
  };
  if (n > static_cast<int64_t>(content.size())) return damaged();  // a size takes a byte at least
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(content.data()),
                                            static_cast<int>(content.size()));
  std::vector<uint64_t> sizes(static_cast<size_t>(n));
  for (uint64_t& size : sizes) {
    if (!in.ReadVarint64(&size)) return damaged();
  }
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(DType::kString, shape));
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > content.size() ||
        !in.ReadString(&t.data<std::string>()[i], static_cast<int>(sizes[i]))) {
      return damaged();
    }
  }
  if (in.CurrentPosition() != static_cast<int>(content.size())) return damaged();
  return t;
}

}  // namespace

absl::StatusOr<DType> DTypeFromProto(int number) {
  const DType dtype = static_cast<DType>(number > 100 ? number - 100 : number);
  if (!IsValid(dtype)) return InvalidArgument("dtype number ", number, " is not supported");
  return dtype;
}

absl::StatusOr<Shape> ShapeFromProto(const tf::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return Shape::Unknown();
  Shape shape;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < -1) return InvalidArgument("a shape has dimension ", dim.size());
    shape.push_back(dim.size());
  }
  return shape;
}

absl::StatusOr<Tensor> TensorReader::Read(tf::TensorProto& proto) {
  if (auto it = read_.find(&proto); it != read_.end()) return it->second;
  TENON_ASSIGN_OR_RETURN(Tensor t, Convert(proto));
  read_.emplace(&proto, t);
  return t;
}

absl::StatusOr<Tensor> TensorReader::AllocateExpanded(DType dtype, const Shape& shape,
                                                      int64_t given) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, shape.CheckedElements());
  int64_t bytes;
  if (__builtin_mul_overflow(n - given, static_cast<int64_t>(SizeOf(dtype)), &bytes) ||
      bytes > expansion_left_) {
    return InvalidArgument("a ", Name(dtype), " tensor of shape ", shape.ToString(),
                           " is given by ", given, " values: too large");
  }
  expansion_left_ -= bytes;
  return Tensor::Allocate(dtype, shape);
}

absl::StatusOr<Tensor> TensorReader::Convert(tf::TensorProto& proto) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, DTypeFromProto(proto.dtype()));
  TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(proto.tensor_shape()));
  TENON_ASSIGN_OR_RETURN(const int64_t n, shape.CheckedElements());
  const int64_t given = GivenElements(dtype, proto);
  if (given < 0) return Unimplemented("tensors of dtype ", Name(dtype));
  if (!proto.tensor_content().empty()) {
    if (dtype == DType::kString) return StringsFromContent(shape, n, proto);
    return FromContent(dtype, shape, n, proto);
  }
  if (given > n) {
    return InvalidArgument("a ", Name(dtype), " tensor of shape ", shape.ToString(), " has ", given,
                           " values");
  }
  TENON_ASSIGN_OR_RETURN(Tensor t, AllocateExpanded(dtype, shape, given));
  FillFromFields(t, proto);
  return t;
}

void ShapeToProto(const Shape& shape, tf::TensorShapeProto& proto) {
  if (!shape.has_rank()) return proto.set_unknown_rank(true);
  for (int64_t d : shape.dims()) proto.add_dim()->set_size(d);
}

absl::Status TensorToProto(const Tensor& tensor, tf::TensorProto& proto) {
  proto.set_dtype(static_cast<tf::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), *proto.mutable_tensor_shape());
  if (tensor.dtype() == DType::kString) {
    for (const std::string& s : tensor.flat<std::string>()) proto.add_string_val(s);
    return absl::OkStatus();
  }
  if (SizeOf(tensor.dtype()) == 0) {
    return Unimplemented("tensors of dtype ", Name(tensor.dtype()));
  }
  proto.set_tensor_content(tensor.raw(), tensor.bytes());
  return absl::OkStatus();
}

}  // namespace tenon
