#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/example_proto/decode_message.h"
#include "kernels/example_proto/descriptor.h"
#include "kernels/example_proto/wire.h"

namespace tenon {
namespace {

using Type = MessageField::Type;

// A field, and where its values are.
struct EncodedField {
  MessageField field;
  int input = 0;
  DType dtype = DType::kInvalid;
  int64_t width = 0;  // values of a message that there is room for
};

uint64_t ToZigzag(int64_t v) {
  return static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63);
}

void AppendFixed(uint64_t value, size_t bytes, std::string& out) {
  char little_endian[sizeof(value)];
  std::memcpy(little_endian, &value, sizeof(value));
  out.append(little_endian, bytes);
}

// An element's bits, as they are written.
void AppendNumber(uint64_t bits, Type type, DType dtype, std::string& out) {
  const auto low = static_cast<int32_t>(bits);
  switch (type) {
    case Type::kFloat:
      if (dtype == DType::kDouble) {
        bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      }
      break;
    case Type::kInt32:
    case Type::kEnum:
      bits = static_cast<uint64_t>(int64_t{low});
      break;
    case Type::kUint32:
      bits &= 0xFFFFFFFFu;
      break;
    case Type::kSint32:
      bits = ToZigzag(low) & 0xFFFFFFFFu;
      break;
    case Type::kSint64:
      bits = ToZigzag(static_cast<int64_t>(bits));
      break;
    default:
      break;
  }
  const WireType wire = WireTypeOf(type);
  if (wire == WireType::kVarint) {
    AppendVarint(bits, out);
  } else {
    AppendFixed(bits, wire == WireType::kFixed32 ? 4 : 8, out);
  }
}

// `n` elements from the one at `first`.
void AppendValues(const EncodedField& f, const void* data, int64_t first, int64_t n,
                  std::string& out) {
  const WireType wire = WireTypeOf(f.field.type);
  if (f.dtype == DType::kString) {
    for (int64_t i = first; i < first + n; ++i) {
      const std::string& value = static_cast<const std::string*>(data)[i];
      AppendTag(f.field.number, wire, out);
      if (wire == WireType::kBytes) AppendVarint(value.size(), out);
      out += value;
      if (wire == WireType::kGroup) AppendTag(f.field.number, WireType::kGroupEnd, out);
    }
    return;
  }
  std::string list;
  std::string& numbers = f.field.packed ? list : out;
  const size_t size = SizeOf(f.dtype);
  for (int64_t i = first; i < first + n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(data) + static_cast<size_t>(i) * size, size);
    if (!f.field.packed) AppendTag(f.field.number, wire, out);
    AppendNumber(bits, f.field.type, f.dtype, numbers);
  }
  if (!f.field.packed) return;
  AppendBytesField(f.field.number, list, out);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> EncodeMessageKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, p.attrs().Strings("field_names"));
  if (static_cast<int>(names.size()) != p.num_inputs() - 1) {
    return InvalidArgument("field_names and values differ in length");
  }
  TENON_ASSIGN_OR_RETURN(
      std::vector<MessageField> found,
      FieldsOfMessage(p.attrs().String("descriptor_source", ""),
                      p.attrs().String("message_type", ""), names, /*extensions=*/false));
  std::vector<EncodedField> fields;
  for (size_t i = 0; i < found.size(); ++i) {
    const int input = static_cast<int>(i) + 1;
    const DType dtype = p.input_dtype(input);
    if (!MayHold(dtype, found[i].type)) {
      return InvalidArgument("field ", found[i].name, " cannot hold ", Name(dtype));
    }
    const Shape& shape = p.input_shape(input);
    fields.push_back({std::move(found[i]), input, dtype, shape.dim(shape.rank() - 1)});
  }
  std::stable_sort(fields.begin(), fields.end(), [](const EncodedField& a, const EncodedField& b) {
    return a.field.number < b.field.number;
  });
  const int64_t messages = p.output_shape(0).num_elements();
  return MakeKernel([fields = std::move(fields), messages](RunContext& run) -> absl::Status {
    const int32_t* const sizes = run.input<int32_t>(0);
    const auto columns = std::ssize(fields);
    for (int64_t m = 0; m < messages; ++m) {
      std::string& out = run.output<std::string>(0)[m];
      out.clear();
      for (const EncodedField& f : fields) {
        const int64_t n = sizes[m * columns + f.input - 1];
        if (n > f.width) {
          return InvalidArgument("message ", m, " has ", n, " values of field ", f.field.name,
                                 ", but there are ", f.width);
        }
        if (n != 0) AppendValues(f, run.input(f.input), m * f.width, std::max<int64_t>(n, 0), out);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
