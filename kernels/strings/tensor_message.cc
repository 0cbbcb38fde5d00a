#include "kernels/strings/tensor_message.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "env/status.h"
#include "env/varint.h"
#include "kernels/example_proto/wire.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Numbers of TensorProto's fields.
constexpr uint32_t kDtypeField = 1, kShapeField = 2, kContentField = 4, kStringField = 8;
constexpr int kMaxRank = 254;  // TensorFlow's

absl::Status Malformed() { return InvalidArgument("the string is not a TensorProto message"); }

// Calls `sink` for each number of a repeated field, packed or not. False if one is malformed.
template <typename Sink>
bool ForEachNumber(absl::string_view message, uint32_t field, WireType type, Sink sink) {
  WireReader reader(message);
  WireField f;
  while (reader.Next(f)) {
    if (f.number != field) continue;
    if (f.type == type) sink(f.value);
    if (!f.is_bytes()) continue;
    WireReader packed(f.bytes);
    while (!packed.done()) {
      uint64_t value = 0;
      if (!packed.Number(type, value)) return false;
      sink(value);
    }
  }
  return reader.ok();
}

template <typename T>
T FromWire(uint64_t value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(value);
  } else {
    return static_cast<T>(value);
  }
}

// `n` elements of `parts` numbers each.
template <typename T>
absl::Status WriteNumbers(absl::string_view message, uint32_t field, WireType type, int64_t n,
                          void* memory, int parts = 1) {
  T* const out = static_cast<T*>(memory);
  const int64_t count = n * parts;
  int64_t given = 0;
  const bool ok = ForEachNumber(message, field, type, [&](uint64_t value) {
    if (given < count) out[given++] = FromWire<T>(value);
  });
  if (!ok) return Malformed();
  given -= given % parts;
  for (int64_t i = given; i < count; ++i) out[i] = given > 0 ? out[i - parts] : T();
  return absl::OkStatus();
}

absl::Status WriteStrings(absl::string_view message, int64_t n, std::string* out) {
  WireReader reader(message);
  WireField f;
  int64_t given = 0;
  while (reader.Next(f)) {
    if (f.number == kStringField && f.is_bytes() && given < n) out[given++] = std::string(f.bytes);
  }
  const std::string last = given > 0 ? out[given - 1] : std::string();
  std::fill(out + given, out + n, last);
  return absl::OkStatus();
}

// Strings as content: their lengths, then their bytes.
absl::Status WriteStringContent(absl::string_view content, int64_t n, std::string* out) {
  const char* p = content.data();
  const char* const end = p + content.size();
  std::vector<size_t> lengths;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t length = 0;
    if (!ReadVarint(p, end, length)) return Malformed();
    lengths.push_back(length);
  }
  for (const size_t length : lengths) {
    if (length > static_cast<size_t>(end - p)) return Malformed();
    (out++)->assign(p, length);
    p += length;
  }
  return p == end ? absl::OkStatus() : Malformed();
}

std::string StringContent(absl::Span<const std::string> strings) {
  std::string content;
  for (const std::string& s : strings) AppendVarint(s.size(), content);
  for (const std::string& s : strings) content += s;
  return content;
}

absl::Status ReadShape(absl::string_view message, Shape& shape) {
  WireReader reader(message);
  WireField f;
  while (reader.Next(f)) {
    if (f.number != 2 || !f.is_bytes()) continue;
    int64_t size = 0;
    WireReader dim(f.bytes);
    WireField part;
    while (dim.Next(part)) {
      if (part.number == 1 && part.type == WireType::kVarint) {
        size = static_cast<int64_t>(part.value);
      }
    }
    if (!dim.ok()) return Malformed();
    if (size < 0) return InvalidArgument("a shape has dimension ", size);
    if (shape.rank() == kMaxRank) return InvalidArgument("a shape has too many dimensions");
    shape.push_back(size);
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

}  // namespace

std::string SerializeTensorMessage(DType dtype, const Shape& shape, const void* data,
                                   StringForm form) {
  std::string dims, size, out;
  for (const int64_t d : shape.dims()) {
    size.clear();
    if (d != 0) {
      AppendTag(1, WireType::kVarint, size);
      AppendVarint(static_cast<uint64_t>(d), size);
    }
    AppendBytesField(2, size, dims);
  }
  AppendTag(kDtypeField, WireType::kVarint, out);
  AppendVarint(static_cast<uint64_t>(dtype), out);
  AppendBytesField(kShapeField, dims, out);
  const size_t n = static_cast<size_t>(shape.num_elements());
  if (dtype == DType::kString) {
    const absl::Span<const std::string> strings(static_cast<const std::string*>(data), n);
    if (form == StringForm::kContent) {
      if (n > 0) AppendBytesField(kContentField, StringContent(strings), out);
    } else {
      for (const std::string& s : strings) AppendBytesField(kStringField, s, out);
    }
  } else if (n > 0) {
    AppendBytesField(kContentField, {static_cast<const char*>(data), n * SizeOf(dtype)}, out);
  }
  return out;
}

absl::StatusOr<TensorMessage> TensorMessage::Read(absl::string_view bytes) {
  TensorMessage message;
  message.bytes_ = bytes;
  WireReader reader(bytes);
  WireField f;
  uint64_t dtype = 0;
  while (reader.Next(f)) {
    if (f.number == kDtypeField && f.type == WireType::kVarint) {
      dtype = f.value;
    } else if (f.number == kShapeField && f.is_bytes()) {
      TENON_RETURN_IF_ERROR(ReadShape(f.bytes, message.shape_));
    } else if (f.number == kContentField && f.is_bytes()) {
      message.content_ = f.bytes;
    }
  }
  if (!reader.ok()) return Malformed();
  message.dtype_ = dtype <= 100 ? static_cast<DType>(dtype) : DType::kInvalid;
  if (!IsValid(message.dtype_) || SizeOf(message.dtype_) == 0) {
    return InvalidArgument("dtype number ", dtype, " of a TensorProto is not supported");
  }
  TENON_RETURN_IF_ERROR(message.shape_.CheckedElements().status());
  return message;
}

absl::Status TensorMessage::Write(void* out) const {
  const int64_t n = shape_.num_elements();
  if (n == 0) return absl::OkStatus();
  if (!content_.empty()) {
    if (dtype_ == DType::kString) {
      return WriteStringContent(content_, n, static_cast<std::string*>(out));
    }
    if (content_.size() / SizeOf(dtype_) != static_cast<size_t>(n) ||
        content_.size() % SizeOf(dtype_) != 0) {
      return InvalidArgument("a ", Name(dtype_), " tensor of shape ", shape_.ToString(), " has ",
                             content_.size(), " bytes of content");
    }
    if (dtype_ == DType::kBool &&
        !std::all_of(content_.begin(), content_.end(), [](char c) { return c == 0 || c == 1; })) {
      return InvalidArgument("a bool tensor has bytes that are neither 0 nor 1");
    }
    std::memcpy(out, content_.data(), content_.size());
    return absl::OkStatus();
  }
  constexpr WireType kVarint = WireType::kVarint, k32 = WireType::kFixed32,
                     k64 = WireType::kFixed64;
  switch (dtype_) {
    case DType::kFloat:
      return WriteNumbers<float>(bytes_, 5, k32, n, out);
    case DType::kDouble:
      return WriteNumbers<double>(bytes_, 6, k64, n, out);
    case DType::kInt32:
    case DType::kQint32:
      return WriteNumbers<int32_t>(bytes_, 7, kVarint, n, out);
    case DType::kUint8:
    case DType::kQuint8:
    case DType::kInt8:
    case DType::kQint8:
      return WriteNumbers<uint8_t>(bytes_, 7, kVarint, n, out);
    case DType::kInt16:
    case DType::kQint16:
    case DType::kUint16:
    case DType::kQuint16:
      return WriteNumbers<uint16_t>(bytes_, 7, kVarint, n, out);
    case DType::kString:
      return WriteStrings(bytes_, n, static_cast<std::string*>(out));
    case DType::kComplex64:
      return WriteNumbers<float>(bytes_, 9, k32, n, out, 2);
    case DType::kInt64:
      return WriteNumbers<int64_t>(bytes_, 10, kVarint, n, out);
    case DType::kBool:
      return WriteNumbers<bool>(bytes_, 11, kVarint, n, out);
    case DType::kComplex128:
      return WriteNumbers<double>(bytes_, 12, k64, n, out, 2);
    case DType::kBfloat16:
    case DType::kHalf:
      return WriteNumbers<uint16_t>(bytes_, 13, kVarint, n, out);
    case DType::kUint32:
      return WriteNumbers<uint32_t>(bytes_, 16, kVarint, n, out);
    case DType::kUint64:
      return WriteNumbers<uint64_t>(bytes_, 17, kVarint, n, out);
    default:
      return NoKernelFor(dtype_);
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> SerializeTensorKernel(PrepareContext& p) {
  return MakeKernel([dtype = p.input_dtype(0), shape = p.input_shape(0)](RunContext& run) {
    *run.output<std::string>(0) = SerializeTensorMessage(dtype, shape, run.input(0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ParseTensorKernel(PrepareContext& p) {
  return MakeKernel([dtype = p.output_dtype(0)](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const TensorMessage message,
                           TensorMessage::Read(*run.input<std::string>(0)));
    if (message.dtype() != dtype) {
      return InvalidArgument("the message has a tensor of ", Name(message.dtype()), ", not of ",
                             Name(dtype));
    }
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, message.shape()));
    return message.Write(out);
  });
}

}  // namespace tenon
