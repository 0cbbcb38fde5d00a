// Where: the coordinates of nonzero elements, one per row. Their number is known only at Run.
#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status WhereShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape({-1, in.has_rank() ? int64_t{in.rank()} : int64_t{-1}}));
  return absl::OkStatus();
}

// Rows of coordinates for some elements of a tensor.
class Coordinates {
 public:
  explicit Coordinates(const Shape& shape) : dims_(shape.dims().begin(), shape.dims().end()) {}

  // Writes the coordinates of the elements i in [begin, end) for which is_set(i), in order, to
  // `count` rows: as many as there are.
  template <typename IsSet>
  void Write(int64_t begin, int64_t end, IsSet is_set, int64_t count, int64_t* out) const {
    switch (dims_.size()) {
      case 0:
        return;  // rows without numbers
      case 1:
        return WriteRows<1>(begin, end, is_set, count, out);
      case 2:
        return WriteRows<2>(begin, end, is_set, count, out);
      case 3:
        return WriteRows<3>(begin, end, is_set, count, out);
      case 4:
        return WriteRows<4>(begin, end, is_set, count, out);
      default:
        return WriteRows<0>(begin, end, is_set, count, out);
    }
  }

 private:
  // Without a branch on is_set, which may be random. known_rank: 0 if it is another.
  template <size_t known_rank, typename IsSet>
  void WriteRows(int64_t begin, int64_t end, IsSet is_set, int64_t count, int64_t* out) const {
    const size_t rank = known_rank > 0 ? known_rank : dims_.size();
    absl::InlinedVector<int64_t, 8> index(rank);
    for (size_t d = rank, at = static_cast<size_t>(begin); d-- > 0;) {
      index[d] = static_cast<int64_t>(at % static_cast<size_t>(dims_[d]));
      at /= static_cast<size_t>(dims_[d]);
    }
    int64_t* const at = index.data();
    const int64_t* const out_end = out + count * static_cast<int64_t>(rank);
    for (int64_t i = begin; i < end && out != out_end;) {
      const int64_t line_end = std::min(end, i + dims_.back() - at[rank - 1]);
      for (; i < line_end && out != out_end; ++i, ++at[rank - 1]) {
        for (size_t d = 0; d < rank; ++d) out[d] = at[d];
        out += is_set(i) ? rank : 0;
      }
      for (size_t d = rank; --d > 0 && at[d] == dims_[d];) {
        at[d] = 0;
        ++at[d - 1];
      }
    }
  }

  const std::vector<int64_t> dims_;
};

absl::StatusOr<std::unique_ptr<Kernel>> Where(PrepareContext& p) {
  constexpr int64_t kBlock = 1 << 13;  // elements that one task looks at
  const Shape in = p.input_shape(0);
  const int64_t n = in.num_elements(), blocks = CeilDiv(n, kBlock);
  const int threads = p.services().threads;
  return DispatchType(NumbersAndBool{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=, coordinates = Coordinates(in)](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      const auto is_set = [x](int64_t i) { return ToCompute(x[i]) != ComputeType<T>(0); };
      // starts[b]: how many there are before block b.
      std::vector<int64_t> starts(static_cast<size_t>(blocks) + 1, 0);
      const auto for_blocks = [&](auto fn) {
        ParallelFor(threads, blocks, 1, [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) fn(b, b * kBlock, std::min(n, (b + 1) * kBlock));
        });
      };
      for_blocks([&](int64_t b, int64_t begin, int64_t end) {
        int64_t count = 0;
        for (int64_t i = begin; i < end; ++i) count += is_set(i) ? 1 : 0;
        starts[static_cast<size_t>(b) + 1] = count;
      });
      std::partial_sum(starts.begin(), starts.end(), starts.begin());
      TENON_ASSIGN_OR_RETURN(void* memory,
                             run.AllocateOutput(0, Shape({starts.back(), in.rank()})));
      for_blocks([&](int64_t b, int64_t begin, int64_t end) {
        const auto start = starts.begin() + b;
        coordinates.Write(begin, end, is_set, start[1] - start[0],
                          static_cast<int64_t*>(memory) + start[0] * in.rank());
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration where({
    .name = "Where",
    .inputs = "input: T",
    .outputs = "index: int64",
    .attrs = "T: type = bool",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64 bool",
    .shape = WhereShape,
    .reference = Where,
});

}  // namespace
}  // namespace tenon
