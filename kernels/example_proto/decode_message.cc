#include "kernels/example_proto/decode_message.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "env/status.h"
#include "kernels/example_proto/descriptor.h"
#include "kernels/example_proto/wire.h"

namespace tenon {
namespace {

using Type = MessageField::Type;

// A field, and where its values go.
struct DecodedField {
  MessageField field;
  int output = 0;
  DType dtype = DType::kInvalid;
};

// A value on the wire: a number, or bytes.
struct WireValue {
  uint64_t number = 0;
  absl::string_view bytes;
  bool packed = false;
};

absl::Status BadMessage() { return InvalidArgument("the bytes are no message"); }

uint64_t FromZigzag(uint64_t v) { return (v >> 1) ^ (~(v & 1) + 1); }

// The number's bits as an element of `dtype`.
uint64_t BitsOf(const WireValue& value, Type type, DType dtype) {
  const uint64_t v = value.number;
  switch (type) {
    case Type::kFloat:
      if (dtype != DType::kDouble) return v;
      return std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(v))});
    case Type::kInt32:
      // As TensorFlow: packed numbers do not keep their sign.
      return value.packed ? v & 0xFFFFFFFFu
                          : static_cast<uint64_t>(int64_t{static_cast<int32_t>(v)});
    case Type::kSfixed32:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(v)});
    case Type::kSint32:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(FromZigzag(v & 0xFFFFFFFFu))});
    case Type::kSint64:
      return FromZigzag(v);
    case Type::kUint32:
      return v & 0xFFFFFFFFu;
    case Type::kBool:
      return v != 0;
    default:
      return v;
  }
}

void StoreBits(uint64_t bits, DType dtype, char* out) { std::memcpy(out, &bits, SizeOf(dtype)); }

using FieldSink =
    absl::FunctionRef<absl::Status(size_t field, WireType type, const WireValue& value)>;

// Calls `sink` for each value of the fields, of which packed ones are whole lists of kBytes.
absl::Status VisitValues(absl::string_view message, const std::vector<DecodedField>& fields,
                         FieldSink sink) {
  WireReader reader(message);
  while (!reader.done()) {
    uint32_t number = 0;
    WireType type = WireType::kVarint;
    if (!reader.Tag(number, type)) return BadMessage();
    WireValue value;
    switch (type) {
      case WireType::kBytes:
        if (!reader.Bytes(value.bytes)) return BadMessage();
        break;
      case WireType::kGroup:
        if (!reader.Group(number, value.bytes)) return BadMessage();
        break;
      case WireType::kVarint:
      case WireType::kFixed32:
      case WireType::kFixed64:
        if (!reader.Number(type, value.number)) return BadMessage();
        break;
      default:
        return BadMessage();
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].field.number != number) continue;
      TENON_RETURN_IF_ERROR(sink(i, type, value));
      break;
    }
  }
  return absl::OkStatus();
}

bool IsPacked(WireType given, WireType declared) {
  return given == WireType::kBytes && declared != WireType::kBytes;
}

// How many values a packed list has; strings and groups have no such lists.
absl::StatusOr<int64_t> PackedCount(absl::string_view list, WireType type) {
  if (type == WireType::kGroup) return list.empty() ? absl::StatusOr<int64_t>(0) : BadMessage();
  WireReader reader(list);
  int64_t count = 0;
  for (uint64_t number; !reader.done(); ++count) {
    if (!reader.Number(type, number)) return BadMessage();
  }
  return count;
}

class MessageDecoder final : public Kernel {
 public:
  MessageDecoder(std::vector<DecodedField> fields, const Shape& shape)
      : fields_(std::move(fields)), shape_(shape) {}

  absl::Status Run(RunContext& run) const override {
    const int64_t n = shape_.num_elements();
    const auto* const messages = run.input<std::string>(0);
    const size_t width = fields_.size();
    int32_t* const sizes = run.output<int32_t>(0);
    std::fill(sizes, sizes + n * static_cast<int64_t>(width), 0);
    std::vector<int64_t> most(width, 1);
    for (int64_t m = 0; m < n; ++m) {
      int32_t* const row = sizes + m * static_cast<int64_t>(width);
      TENON_RETURN_IF_ERROR(Count(messages[m], row));
      for (size_t i = 0; i < width; ++i) {
        most[i] = std::max(most[i], int64_t{row[fields_[i].output - 1]});
      }
    }
    std::vector<char*> outs(width);
    for (size_t i = 0; i < width; ++i) {
      Shape shape = shape_;
      shape.push_back(most[i]);
      TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(fields_[i].output, shape));
      outs[i] = static_cast<char*>(out);
    }
    for (int64_t m = 0; m < n; ++m) TENON_RETURN_IF_ERROR(Write(messages[m], m, most, outs));
    return absl::OkStatus();
  }

 private:
  absl::Status Count(absl::string_view message, int32_t* counts) const {
    return VisitValues(
        message, fields_, [&](size_t i, WireType type, const WireValue& value) -> absl::Status {
          const DecodedField& f = fields_[i];
          const WireType declared = WireTypeOf(f.field.type);
          int32_t& count = counts[f.output - 1];
          int64_t added = 1;
          if (IsPacked(type, declared)) {
            TENON_ASSIGN_OR_RETURN(added, PackedCount(value.bytes, declared));
          } else if (type != declared) {
            return absl::OkStatus();
          }
          const int64_t sum = count + added;
          count = static_cast<int32_t>(f.field.repeated ? sum : std::min<int64_t>(sum, 1));
          return absl::OkStatus();
        });
  }

  absl::Status Write(absl::string_view message, int64_t m, const std::vector<int64_t>& most,
                     const std::vector<char*>& outs) const {
    std::vector<int64_t> written(fields_.size());
    const auto place = [&](size_t i, int64_t k) {
      const size_t size =
          fields_[i].dtype == DType::kString ? sizeof(std::string) : SizeOf(fields_[i].dtype);
      return outs[i] + static_cast<size_t>(m * most[i] + k) * size;
    };
    TENON_RETURN_IF_ERROR(VisitValues(
        message, fields_, [&](size_t i, WireType type, const WireValue& value) -> absl::Status {
          const DecodedField& f = fields_[i];
          const WireType declared = WireTypeOf(f.field.type);
          int64_t& next = written[i];
          if (IsPacked(type, declared)) {
            // TensorFlow's refusal, and like it, none of a field that is not repeated is kept.
            if (next >= most[i]) return InvalidArgument("more values than allowed");
            if (!f.field.repeated) return absl::OkStatus();
            WireReader reader(value.bytes);
            WireValue one;
            one.packed = true;
            while (!reader.done() && reader.Number(declared, one.number)) {
              StoreBits(BitsOf(one, f.field.type, f.dtype), f.dtype, place(i, next++));
            }
            return absl::OkStatus();
          }
          if (type != declared) return absl::OkStatus();
          const int64_t k = f.field.repeated ? next : 0;
          next = k + 1;
          if (f.dtype == DType::kString) {
            std::string& text = *reinterpret_cast<std::string*>(place(i, k));
            text.clear();  // a group's bytes have both of its tags
            if (type == WireType::kGroup) AppendTag(f.field.number, type, text);
            text.append(value.bytes.data(), value.bytes.size());
          } else {
            StoreBits(BitsOf(value, f.field.type, f.dtype), f.dtype, place(i, k));
          }
          return absl::OkStatus();
        }));
    for (size_t i = 0; i < fields_.size(); ++i) {
      const DecodedField& f = fields_[i];
      WireValue value;
      value.number = f.field.default_value;
      for (int64_t k = written[i]; k < most[i]; ++k) {
        if (f.dtype == DType::kString) {
          // TensorFlow ends a default at its first NUL.
          *reinterpret_cast<std::string*>(place(i, k)) = f.field.default_text.c_str();
        } else {
          const Type type = f.field.type == Type::kFloat ? Type::kFloat : Type::kUint64;
          StoreBits(BitsOf(value, type, f.dtype), f.dtype, place(i, k));
        }
      }
    }
    return absl::OkStatus();
  }

  const std::vector<DecodedField> fields_;
  const Shape shape_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> DecodeMessageKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, p.attrs().Strings("field_names"));
  if (static_cast<int>(names.size()) != p.num_outputs() - 1) {
    return InvalidArgument("field_names and output_types differ in length");
  }
  const std::string format = p.attrs().String("message_format", "binary");
  if (format == "text") return Unimplemented("messages in text format");
  if (format != "binary") return InvalidArgument("message_format is binary or text");
  if (p.attrs().Bool("sanitize", false)) return Unimplemented("sanitize");
  if (p.input_shape(0).num_elements() == 0) return InvalidArgument("there are no messages");
  TENON_ASSIGN_OR_RETURN(
      std::vector<MessageField> found,
      FieldsOfMessage(p.attrs().String("descriptor_source", ""),
                      p.attrs().String("message_type", ""), names, /*extensions=*/true));
  std::vector<DecodedField> fields;
  for (size_t i = 0; i < found.size(); ++i) {
    const int output = static_cast<int>(i) + 1;
    const DType dtype = p.output_dtype(output);
    if (!MayHold(dtype, found[i].type)) {
      return InvalidArgument("a ", Name(dtype), " tensor cannot hold field ", found[i].name);
    }
    fields.push_back({std::move(found[i]), output, dtype});
  }
  return std::unique_ptr<Kernel>(new MessageDecoder(std::move(fields), p.input_shape(0)));
}

}  // namespace tenon
