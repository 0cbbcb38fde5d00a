#include "kernels/elementwise/reference.h"

#include <algorithm>
#include <atomic>

#include "kernels/interface/parallel.h"

namespace tenon {
absl::StatusOr<std::unique_ptr<Kernel>> MakeUnaryKernel(PrepareContext& p, const UnaryLoop& loop,
                                                        const char* implementation) {
  if (loop.in_bytes == loop.out_bytes) p.AllowInPlace(0, 0);
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel(
      [loop, n, threads](RunContext& run) {
        ParallelFor(threads, n, ParallelGrain(kElementNs), [&](int64_t begin, int64_t end) {
          loop.run(run.input<char>(0) + begin * loop.in_bytes,
                   run.output<char>(0) + begin * loop.out_bytes, end - begin);
        });
        return absl::OkStatus();
      },
      implementation);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeBinaryKernel(PrepareContext& p, BinaryLoop loop,
                                                         bool same_size, const char* implementation,
                                                         double ns) {
  for (int i = 0; i < 2; ++i) {
    if (same_size && p.input_shape(i) == p.output_shape(0)) p.AllowInPlace(i, 0);
  }
  return MakeBinaryKernel(p, loop,
                          Broadcast(p.output_shape(0), {p.input_shape(0), p.input_shape(1)}),
                          implementation, ns);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeBinaryKernel(PrepareContext& p, BinaryLoop loop,
                                                         Broadcast space,
                                                         const char* implementation, double ns) {
  const int threads = p.services().threads;
  return MakeKernel(
      [loop, threads, ns, space = std::move(space)](RunContext& run) -> absl::Status {
        std::atomic<const char*> error = nullptr;
        space.ForEachTile([&](const Tile& tile) {
          ForTileParts(threads, tile, ns, [&](const Tile& part) {
            if (const char* e = loop(part, run.input(0), run.input(1), run.output(0))) error = e;
          });
          return error == nullptr;
        });
        if (error != nullptr) return InvalidArgument(error.load());
        return absl::OkStatus();
      },
      implementation);
}

void ForTileParts(int threads, const Tile& tile, double ns,
                  absl::FunctionRef<void(const Tile& part)> f) {
  const int64_t grain = ParallelGrain(ns);
  if (tile.rows == 1) {
    ParallelFor(threads, tile.cols, grain, [&](int64_t begin, int64_t end) {
      Tile part = tile;
      part.out += begin;
      part.cols = end - begin;
      for (size_t o = 0; o < kMaxOperands; ++o) part.offset[o] += begin * tile.col_stride[o];
      f(part);
    });
    return;
  }
  const int64_t rows = std::max<int64_t>(1, grain / std::max<int64_t>(1, tile.cols));
  ParallelFor(threads, tile.rows, rows, [&](int64_t begin, int64_t end) {
    Tile part = tile;
    part.out += begin * tile.cols;
    part.rows = end - begin;
    for (size_t o = 0; o < kMaxOperands; ++o) part.offset[o] += begin * tile.row_stride[o];
    f(part);
  });
}

}  // namespace tenon
