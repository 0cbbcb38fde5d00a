// Substr: a part of each string, from pos (negative: counted from the end), at most len long. A
// negative number of bytes is all that follow, a negative number of characters none.
#include <algorithm>

#include "kernels/elementwise/reference_broadcast.h"
#include "kernels/reduction/segments.h"
#include "kernels/strings/map.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SubstrShape(ShapeContext& c) {
  if (!c.input(1).CompatibleWith(c.input(2))) {
    return InvalidArgument("pos and len must have one shape: ", c.input(1).ToString(), " and ",
                           c.input(2).ToString());
  }
  return BroadcastBinaryShape(c);
}

absl::StatusOr<std::unique_ptr<Kernel>> Substr(PrepareContext& p) {
  const std::string unit = p.attrs().String("unit", "BYTE");
  if (unit != "BYTE" && unit != "UTF8_CHAR") return InvalidArgument("unit '", unit, "'");
  const bool bytes = unit == "BYTE";
  const Broadcast space(p.output_shape(0), {p.input_shape(0), p.input_shape(1)});
  const DType int_type = p.input_dtype(1);
  const int64_t positions = p.input_shape(1).num_elements();
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> pos = IntegersAt(int_type, run.input(1), positions);
    const std::vector<int64_t> len = IntegersAt(int_type, run.input(2), positions);
    absl::Status status;
    auto take = [&](const std::string& text, size_t k, std::string& out) {
      const std::vector<size_t> starts = bytes ? std::vector<size_t>() : CharacterStarts(text);
      const int64_t size = static_cast<int64_t>(bytes ? text.size() : starts.size() - 1);
      if (pos[k] > size || pos[k] < -size) {
        status = InvalidArgument("pos ", pos[k], " is out of range for a string of ", size);
        return;
      }
      const int64_t begin = pos[k] < 0 ? pos[k] + size : pos[k];
      const int64_t rest = size - begin;
      const int64_t count = bytes && len[k] < 0 ? rest : std::clamp<int64_t>(len[k], 0, rest);
      auto byte = [&](int64_t i) {
        return bytes ? static_cast<size_t>(i) : starts[static_cast<size_t>(i)];
      };
      out = text.substr(byte(begin), byte(begin + count) - byte(begin));
    };
    space.ForEachTile([&](const Tile& tile) {
      std::string* out = run.output<std::string>(0) + tile.out;
      for (int64_t r = 0; r < tile.rows; ++r) {
        const std::string* text =
            run.input<std::string>(0) + tile.offset[0] + r * tile.row_stride[0];
        const int64_t k = tile.offset[1] + r * tile.row_stride[1];
        for (int64_t i = 0; i < tile.cols; ++i) {
          take(text[i * tile.col_stride[0]], static_cast<size_t>(k + i * tile.col_stride[1]),
               *out++);
        }
      }
      return status.ok();
    });
    return status;
  });
}

const OpRegistration substr_op({
    .name = "Substr",
    .inputs = "input: string, pos: T, len: T",
    .outputs = "output: string",
    .attrs = "T: type; unit: string = BYTE",
    .types = "T: int32 int64",
    .shape = SubstrShape,
    .reference = Substr,
});

}  // namespace
}  // namespace tenon
