#include "proto/stablehlo/attributes.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "env/status.h"

namespace tenon::stablehlo {
namespace {

constexpr int kMaxDepth = 32;

absl::Status Truncated() { return InvalidArgument("an attribute or type is truncated"); }

// What VHLO's encodings of attributes begin with.
enum VhloAttribute : uint64_t {
  kArray = 1,
  kBool = 2,
  kComparisonDirection = 3,
  kComparisonType = 4,
  kApiVersion = 5,
  kDictionary = 6,
  kFftType = 7,
  kFloat = 8,
  kInteger = 9,
  kPrecision = 11,
  kRngAlgorithm = 12,
  kRngDistribution = 13,
  kString = 14,
  kTensor = 15,
  kTranspose = 16,
  kType = 17,
};

// And those of the builtin dialect.
enum BuiltinAttribute : uint64_t {
  kBuiltinArray = 0,
  kBuiltinDictionary = 1,
  kBuiltinString = 2,
  kBuiltinSymbol = 4,
};

// And those of VHLO's types.
enum VhloType : uint64_t {
  kComplexType = 1,
  kFunctionType = 8,
  kTensorType = 20,
  kTensorTypeWithEncoding = 21,
  kTokenType = 22,
};

// The element type of a code that stands for one; invalid for types that Tenon does not have.
DType ElementType(uint64_t code) {
  switch (code) {
    case 0:
      return DType::kBool;
    case 2:
      return DType::kBfloat16;
    case 3:
      return DType::kHalf;
    case 4:
      return DType::kFloat;
    case 5:
      return DType::kDouble;
    case 11:
      return DType::kInt8;
    case 12:
      return DType::kInt16;
    case 13:
      return DType::kInt32;
    case 9:  // index
    case 14:
      return DType::kInt64;
    case 16:
      return DType::kUint8;
    case 17:
      return DType::kUint16;
    case 18:
      return DType::kUint32;
    case 19:
      return DType::kUint64;
    default:
      return DType::kInvalid;
  }
}

// A bfloat16 or half by its bits.
double SmallFloat(DType dtype, uint16_t bits) {
  if (dtype == DType::kBfloat16) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double FloatOf(DType dtype, uint64_t bits) {
  if (dtype == DType::kFloat) {
    const uint32_t low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof(value));
    return value;
  }
  if (dtype == DType::kDouble) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  return SmallFloat(dtype, static_cast<uint16_t>(bits));
}

// A bool tensor's bytes: one bit per element, or (in old files) one byte; a byte of ones alone is
// all true. Empty if it has neither length.
std::string UnpackBools(absl::string_view packed, int64_t n) {
  const size_t count = static_cast<size_t>(n);
  if (packed.size() == 1 && (packed[0] == '\xff' || n > 8)) {
    return std::string(1, packed[0] == 0 ? '\0' : '\1');
  }
  std::string bools;
  if (packed.size() == (count + 7) / 8 && packed.size() != count) {
    bools.resize(count);
    for (size_t i = 0; i < count; ++i) bools[i] = packed[i / 8] >> (i % 8) & 1;
  } else if (packed.size() == count) {
    bools.resize(count);
    for (size_t i = 0; i < count; ++i) bools[i] = packed[i] == 0 ? '\0' : '\1';
  }
  return bools;
}

}  // namespace

template <typename T>
absl::Status AttributeTable::OpenEntries(std::vector<Entry<T>>& table, uint64_t count,
                                         Cursor& sizes, absl::string_view& entries,
                                         const std::vector<absl::string_view>& dialects) {
  table.reserve(static_cast<size_t>(count));
  while (table.size() < count) {
    uint64_t dialect, n;
    if (!sizes.Varint(dialect) || !sizes.Count(n)) return Truncated();
    if (dialect >= dialects.size() || n > count - table.size()) {
      return InvalidArgument("the table of attributes and types is damaged");
    }
    for (; n > 0; --n) {
      uint64_t size;
      bool encoded;
      if (!sizes.VarintWithFlag(size, encoded) || size > entries.size()) return Truncated();
      Entry<T> entry;
      if (encoded) {  // otherwise it is text, of a dialect with no format of its own
        entry.bytes = entries.substr(0, static_cast<size_t>(size));
        entry.dialect = dialects[static_cast<size_t>(dialect)];
      }
      entries.remove_prefix(static_cast<size_t>(size));
      table.push_back(std::move(entry));
    }
  }
  return absl::OkStatus();
}

absl::Status AttributeTable::Open(absl::string_view entries, absl::string_view sizes,
                                  const std::vector<absl::string_view>& dialects,
                                  const std::vector<absl::string_view>& strings) {
  strings_ = &strings;
  Cursor in(sizes);
  uint64_t attributes, types;
  if (!in.Count(attributes) || !in.Count(types)) return Truncated();
  TENON_RETURN_IF_ERROR(OpenEntries(attributes_, attributes, in, entries, dialects));
  return OpenEntries(types_, types, in, entries, dialects);
}

absl::StatusOr<AttributePtr> AttributeTable::Attr(uint64_t index, int depth) {
  if (index >= attributes_.size()) return InvalidArgument("there is no attribute ", index);
  Entry<Attribute>& entry = attributes_[static_cast<size_t>(index)];
  if (entry.state == State::kDecoded) return entry.value;
  if (entry.state == State::kOpen) return InvalidArgument("attribute ", index, " contains itself");
  if (depth > kMaxDepth) return InvalidArgument("attributes are nested too deeply");
  entry.state = State::kOpen;
  auto decoded = std::make_shared<Attribute>();
  if (entry.dialect == "vhlo") {
    TENON_RETURN_IF_ERROR(DecodeVhlo(Cursor(entry.bytes), depth + 1, *decoded));
  } else if (entry.dialect == "builtin") {
    TENON_RETURN_IF_ERROR(DecodeBuiltin(Cursor(entry.bytes), depth + 1, *decoded));
  }
  entry.value = std::move(decoded);
  entry.state = State::kDecoded;
  return entry.value;
}

absl::StatusOr<TypePtr> AttributeTable::TypeAt(uint64_t index, int depth) {
  if (index >= types_.size()) return InvalidArgument("there is no type ", index);
  Entry<Type>& entry = types_[static_cast<size_t>(index)];
  if (entry.state == State::kDecoded) return entry.value;
  if (entry.state == State::kOpen) return InvalidArgument("type ", index, " contains itself");
  if (depth > kMaxDepth) return InvalidArgument("types are nested too deeply");
  entry.state = State::kOpen;
  auto decoded = std::make_shared<Type>();
  if (entry.dialect == "vhlo") {
    TENON_RETURN_IF_ERROR(DecodeType(Cursor(entry.bytes), depth + 1, *decoded));
  }
  entry.value = std::move(decoded);
  entry.state = State::kDecoded;
  return entry.value;
}

absl::Status AttributeTable::ReadString(Cursor& in, absl::string_view& text) const {
  uint64_t index;
  if (!in.Varint(index)) return Truncated();
  if (index >= strings_->size()) return InvalidArgument("there is no string ", index);
  text = (*strings_)[static_cast<size_t>(index)];
  return absl::OkStatus();
}

absl::StatusOr<TypePtr> AttributeTable::ReadType(Cursor& in, int depth) {
  uint64_t index;
  if (!in.Varint(index)) return Truncated();
  return TypeAt(index, depth);
}

absl::Status AttributeTable::ReadTypes(Cursor& in, int depth, std::vector<TypePtr>& types) {
  uint64_t n;
  if (!in.Count(n)) return Truncated();
  for (; n > 0; --n) {
    TENON_ASSIGN_OR_RETURN(TypePtr type, ReadType(in, depth));
    types.push_back(std::move(type));
  }
  return absl::OkStatus();
}

absl::Status AttributeTable::ReadList(Cursor& in, int depth, Attribute& a) {
  a.kind = Attribute::Kind::kList;
  uint64_t n;
  if (!in.Count(n)) return Truncated();
  for (; n > 0; --n) {
    uint64_t index;
    if (!in.Varint(index)) return Truncated();
    TENON_ASSIGN_OR_RETURN(AttributePtr element, Attr(index, depth));
    a.list.push_back(std::move(element));
  }
  return absl::OkStatus();
}

absl::Status AttributeTable::ReadDictionary(Cursor& in, int depth, Attribute& a) {
  a.kind = Attribute::Kind::kDictionary;
  uint64_t n;
  if (!in.Count(n)) return Truncated();
  for (; n > 0; --n) {
    uint64_t key, value;
    if (!in.Varint(key) || !in.Varint(value)) return Truncated();
    TENON_ASSIGN_OR_RETURN(const AttributePtr name, Attr(key, depth));
    TENON_ASSIGN_OR_RETURN(AttributePtr element, Attr(value, depth));
    a.dictionary.emplace_back(name->text, std::move(element));
  }
  return absl::OkStatus();
}

absl::Status AttributeTable::DecodeVhlo(Cursor in, int depth, Attribute& a) {
  uint64_t code;
  if (!in.Varint(code)) return Truncated();
  switch (code) {
    case kArray:
      return ReadList(in, depth, a);
    case kDictionary:
      return ReadDictionary(in, depth, a);
    case kString:
      a.kind = Attribute::Kind::kString;
      return ReadString(in, a.text);
    case kFloat:
    case kInteger:
      return DecodeNumber(in, depth, code == kFloat, a);
    case kTensor:
      return DecodeTensor(in, depth, a);
    case kType: {
      a.kind = Attribute::Kind::kType;
      TENON_ASSIGN_OR_RETURN(a.type, ReadType(in, depth));
      return absl::OkStatus();
    }
    case kBool:
    case kComparisonDirection:
    case kComparisonType:
    case kApiVersion:
    case kFftType:
    case kPrecision:
    case kRngAlgorithm:
    case kRngDistribution:
    case kTranspose: {
      a.kind = Attribute::Kind::kInteger;
      uint64_t value;
      if (!in.Varint(value)) return Truncated();
      a.integer = static_cast<int64_t>(value);
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();
  }
}

absl::Status AttributeTable::DecodeBuiltin(Cursor in, int depth, Attribute& a) {
  uint64_t code;
  if (!in.Varint(code)) return Truncated();
  switch (code) {
    case kBuiltinArray:
      return ReadList(in, depth, a);
    case kBuiltinDictionary:
      return ReadDictionary(in, depth, a);
    case kBuiltinString:
      a.kind = Attribute::Kind::kString;
      return ReadString(in, a.text);
    case kBuiltinSymbol: {
      uint64_t name;
      if (!in.Varint(name)) return Truncated();
      TENON_ASSIGN_OR_RETURN(const AttributePtr text, Attr(name, depth));
      a.kind = Attribute::Kind::kString;
      a.text = text->text;
      return absl::OkStatus();
    }
    default:  // locations, and what VHLO does not use
      return absl::OkStatus();
  }
}

absl::Status AttributeTable::DecodeNumber(Cursor in, int depth, bool floating, Attribute& a) {
  TENON_ASSIGN_OR_RETURN(const TypePtr type, ReadType(in, depth));
  const DType dtype = type->dtype;
  if (floating ? !IsFloating(dtype) : !IsInteger(dtype)) return absl::OkStatus();
  int64_t bits;
  if (SizeOf(dtype) == 1) {
    uint8_t byte;
    if (!in.Byte(byte)) return Truncated();
    bits = dtype == DType::kInt8 ? static_cast<int8_t>(byte) : byte;
  } else if (!in.SignedVarint(bits)) {
    return Truncated();
  }
  if (floating) {
    a.kind = Attribute::Kind::kFloat;
    a.number = FloatOf(dtype, static_cast<uint64_t>(bits));
  } else {
    a.kind = Attribute::Kind::kInteger;
    a.integer = bits;
  }
  return absl::OkStatus();
}

absl::Status AttributeTable::DecodeTensor(Cursor in, int depth, Attribute& a) {
  TENON_ASSIGN_OR_RETURN(a.type, ReadType(in, depth));
  uint64_t size;
  absl::string_view bytes;
  if (!in.Varint(size) || !in.Bytes(size, bytes)) return Truncated();
  a.kind = Attribute::Kind::kTensor;
  if (a.type->kind != Type::Kind::kTensor) return InvalidArgument("a constant is no tensor");
  const DType dtype = a.type->dtype;
  if (dtype == DType::kInvalid) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int64_t n, a.type->shape.CheckedElements());
  std::string bools;
  if (dtype == DType::kBool) {
    bools = UnpackBools(bytes, n);
    bytes = bools;
  }
  const uint64_t element = SizeOf(dtype);
  const bool one = bytes.size() == element;  // is all elements
  if (!one && (bytes.size() % element != 0 || bytes.size() / element != static_cast<uint64_t>(n))) {
    return InvalidArgument("a constant ", a.type->shape.ToString(), " of ", Name(dtype), " has ",
                           bytes.size(), " bytes");
  }
  TENON_ASSIGN_OR_RETURN(a.tensor, Tensor::Allocate(dtype, one ? Shape() : a.type->shape));
  if (!bytes.empty()) std::memcpy(a.tensor.raw(), bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::Status AttributeTable::DecodeType(Cursor in, int depth, Type& t) {
  uint64_t code;
  if (!in.Varint(code)) return Truncated();
  switch (code) {
    case kTokenType:
      t.kind = Type::Kind::kToken;
      return absl::OkStatus();
    case kComplexType: {
      TENON_ASSIGN_OR_RETURN(const TypePtr part, ReadType(in, depth));
      t.kind = Type::Kind::kElement;
      if (part->dtype == DType::kFloat) t.dtype = DType::kComplex64;
      if (part->dtype == DType::kDouble) t.dtype = DType::kComplex128;
      return absl::OkStatus();
    }
    case kFunctionType:
      t.kind = Type::Kind::kFunction;
      TENON_RETURN_IF_ERROR(ReadTypes(in, depth, t.inputs));
      return ReadTypes(in, depth, t.results);
    case kTensorTypeWithEncoding: {
      uint64_t encoding;  // upper limits of dimensions, say
      if (!in.Varint(encoding)) return Truncated();
      [[fallthrough]];
    }
    case kTensorType: {
      std::vector<int64_t> dims;
      if (!in.SignedVarints(dims)) return Truncated();
      for (int64_t& d : dims) {
        if (d == std::numeric_limits<int64_t>::min()) d = -1;
        if (d < -1) return InvalidArgument("a tensor type has a dimension of ", d);
      }
      TENON_ASSIGN_OR_RETURN(const TypePtr element, ReadType(in, depth));
      t.kind = Type::Kind::kTensor;
      t.dtype = element->kind == Type::Kind::kElement ? element->dtype : DType::kInvalid;
      t.shape = Shape(dims);
      return absl::OkStatus();
    }
    default:
      t.dtype = ElementType(code);
      if (t.dtype != DType::kInvalid) t.kind = Type::Kind::kElement;
      return absl::OkStatus();
  }
}

}  // namespace tenon::stablehlo
