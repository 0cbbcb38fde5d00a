#include "ops/math/elementwise.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> MakeUnaryKernel(PrepareContext& p, UnaryLoop loop,
                                                        bool same_size) {
  if (same_size) p.AllowInPlace(0, 0);
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([loop, n](RunContext& run) {
    loop(run.input(0), run.output(0), n);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeBinaryKernel(PrepareContext& p, BinaryLoop loop,
                                                         bool same_size) {
  for (int i = 0; i < 2; ++i) {
    if (same_size && p.input_shape(i) == p.output_shape(0)) p.AllowInPlace(i, 0);
  }
  const Broadcast space(p.output_shape(0), {p.input_shape(0), p.input_shape(1)});
  return MakeKernel([loop, space](RunContext& run) -> absl::Status {
    const char* error = nullptr;
    space.ForEachTile([&](const Tile& tile) {
      error = loop(tile, run.input(0), run.input(1), run.output(0));
      return error == nullptr;
    });
    if (error != nullptr) return InvalidArgument(error);
    return absl::OkStatus();
  });
}

}  // namespace tenon
