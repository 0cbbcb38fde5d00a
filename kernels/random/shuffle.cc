#include "kernels/random/shuffle.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"

namespace tenon {

ShuffledRows ShuffledRows::Of(const PrepareContext& p) {
  const Shape& shape = p.input_shape(0);
  if (shape.rank() == 0) return {p.input_dtype(0), 1, 1};
  return {p.input_dtype(0), shape.dim(0), Product(shape, 1, shape.rank())};
}

void ShuffledRows::Run(RunContext& run, const Philox& generator) const {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  if (rows > 1 && width > 0) {
    PhiloxStream stream(generator);
    for (int64_t i = 0; i + 1 < rows; ++i) {
      const int64_t other = i + stream.Next() % static_cast<uint32_t>(rows - i);
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(other)]);
    }
  }
  VisitStorage(dtype, [&]<typename T>() {
    T* out = run.output<T>(0);
    for (int64_t row : order) out = std::copy_n(run.input<T>(0) + row * width, width, out);
  });
}

}  // namespace tenon
