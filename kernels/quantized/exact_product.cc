#include "kernels/quantized/exact_product.h"

#include <algorithm>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "primitive_cache/matmul.h"

namespace tenon {
namespace {

constexpr int64_t kTile = 256;   // rows whose left side, as floats, stays in cache
constexpr int64_t kPiece = 512;  // 512 * 255 * 128 < 2^24

size_t FloatBytes(int64_t n) { return RoundUp(static_cast<size_t>(n) * sizeof(float), kCacheLine); }

TensorDesc Rows(int64_t rows, int64_t columns, int64_t stride) {
  return {ElementType::kF32, {rows, columns}, {stride, 1}};
}

}  // namespace

absl::StatusOr<ExactProduct> ExactProduct::Make(int64_t rows, int64_t terms, int64_t columns,
                                                const Services& services) {
  if (rows <= 0 || terms <= 0 || columns <= 0) return Unimplemented("empty");
  ExactProduct p;
  p.rows_ = rows;
  p.terms_ = terms;
  p.columns_ = columns;
  p.threads_ = services.threads;
  const int64_t tile = std::min(rows, kTile), piece = std::min(terms, kPiece);
  for (int64_t m : {tile, rows % tile}) {
    for (int64_t k : {piece, terms % piece}) {
      if (m == 0 || k == 0) continue;
      MatmulProblem problem;
      problem.src = Rows(m, k, terms);
      problem.weights = Rows(k, columns, columns);
      problem.dst = Rows(m, columns, columns);
      problem.threads = services.threads;
      TENON_ASSIGN_OR_RETURN(auto product, GetMatmul(problem, services.cache));
      p.primitive_scratch_ =
          std::max(p.primitive_scratch_, RoundUp(product->scratch_bytes(), kCacheLine));
      p.products_[{m, k}] = std::move(product);
    }
  }
  return p;
}

size_t ExactProduct::scratch_bytes() const {
  const int64_t tile = std::min(rows_, kTile);
  return primitive_scratch_ + FloatBytes(tile * terms_) + FloatBytes(tile * columns_);
}

absl::Status ExactProduct::Run(
    absl::FunctionRef<void(int64_t begin, int64_t end, float* left)> fill, const float* right,
    int32_t* sums, void* scratch) const {
  const int64_t tile = std::min(rows_, kTile), piece = std::min(terms_, kPiece);
  char* const base = static_cast<char*>(scratch);
  float* const left = reinterpret_cast<float*>(base + primitive_scratch_);
  float* const part =
      reinterpret_cast<float*>(base + primitive_scratch_ + FloatBytes(tile * terms_));
  for (int64_t begin = 0; begin < rows_; begin += tile) {
    const int64_t m = std::min(tile, rows_ - begin);
    const double ns = 0.5 * static_cast<double>(terms_);
    ParallelFor(threads_, m, ParallelGrain(ns), [&](int64_t first, int64_t last) {
      fill(begin + first, begin + last, left + first * terms_);
    });
    int32_t* const to = sums + begin * columns_;
    for (int64_t term = 0; term < terms_; term += piece) {
      const int64_t k = std::min(piece, terms_ - term);
      void* const pointers[] = {left + term, const_cast<float*>(right + term * columns_), part};
      TENON_RETURN_IF_ERROR(products_.at({m, k})->Execute(pointers, scratch));
      for (int64_t i = 0; i < m * columns_; ++i) {
        const auto more = static_cast<uint32_t>(static_cast<int32_t>(part[i]));
        to[i] = static_cast<int32_t>(term == 0 ? more : static_cast<uint32_t>(to[i]) + more);
      }
    }
  }
  return absl::OkStatus();
}

void ToFloats(DType dtype, const void* integers, int64_t n, float* floats) {
  if (dtype == DType::kQuint8) {
    std::copy_n(static_cast<const uint8_t*>(integers), n, floats);
  } else {
    std::copy_n(static_cast<const int8_t*>(integers), n, floats);
  }
}

}  // namespace tenon
