#include "kernels/random/sobol.h"

#include <bit>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

constexpr size_t kSobolBits = 32;
// How many polynomials there are of degree 1, 2, ...
constexpr int kSobolPolynomials[] = {1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630};

class SobolBits {
 public:
  explicit SobolBits(const std::string& bytes) : bytes_(bytes) {}
  uint32_t Next(size_t bits) {
    uint32_t value = 0;
    for (; bits > 0; --bits, ++at_) {
      const auto byte = static_cast<unsigned char>(bytes_[at_ / 8]);
      value = value << 1 | (byte >> (7 - at_ % 8) & 1u);
    }
    return value;
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

// Appends what a dimension adds for bit k of the Gray code: m_(k+1) / 2^(k+1), in 32 bits.
void AppendSobolColumn(std::vector<uint32_t> m, uint32_t coefficients,
                       std::vector<uint32_t>& columns) {
  const size_t s = m.size();
  for (size_t k = s; k < kSobolBits; ++k) {
    uint32_t next = m[k - s] ^ m[k - s] << s;
    for (size_t i = 1; i < s; ++i) {
      if (coefficients >> (s - 1 - i) & 1) next ^= m[k - i] << i;
    }
    m.push_back(next);
  }
  for (size_t k = 0; k < kSobolBits; ++k) columns.push_back(m[k] << (kSobolBits - 1 - k));
}

// [dim, 32].
absl::StatusOr<std::vector<uint32_t>> SobolColumns(int64_t dim) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::string_view(kSobolNumbers.data(), kSobolNumbers.size()),
                            &bytes)) {
    return Internal("Sobol's numbers are no base64");
  }
  SobolBits bits(bytes);
  std::vector<uint32_t> columns;
  for (size_t k = 0; k < kSobolBits; ++k) columns.push_back(1u << (kSobolBits - 1 - k));
  int64_t done = 1;
  for (size_t s = 1; s <= std::size(kSobolPolynomials); ++s) {
    for (int i = 0; i < kSobolPolynomials[s - 1] && done < dim; ++i, ++done) {
      const uint32_t coefficients = bits.Next(s - 1);
      std::vector<uint32_t> m;
      for (size_t k = 0; k < s; ++k) m.push_back(bits.Next(k) << 1 | 1);
      AppendSobolColumn(std::move(m), coefficients, columns);
    }
  }
  return columns;
}

template <typename T>
void WriteSobolPoints(const std::vector<uint32_t>& columns, int64_t dim, int64_t skip,
                      int64_t begin, int64_t end, T* out) {
  std::vector<uint32_t> point(static_cast<size_t>(dim), 0);
  const auto flip = [&](size_t k) {
    for (size_t j = 0; j < point.size(); ++j) point[j] ^= columns[j * kSobolBits + k];
  };
  const auto first = static_cast<uint32_t>(skip + begin + 1);
  for (size_t k = 0; k < kSobolBits; ++k) {
    if ((first ^ first >> 1) >> k & 1) flip(k);
  }
  for (int64_t i = begin; i < end; ++i) {
    // From a point to the next, one bit of the Gray code changes.
    if (i > begin) flip(static_cast<size_t>(std::countr_one(static_cast<uint32_t>(skip + i))));
    for (int64_t j = 0; j < dim; ++j) {
      out[i * dim + j] = static_cast<T>(point[static_cast<size_t>(j)]) * static_cast<T>(0x1p-32);
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SobolSampleKernel(PrepareContext& p) {
  const Tensor* const skip_value = p.value(2);
  if (!p.output_shape(0).IsComplete() || skip_value == nullptr) {
    return PrepareLate(p, SobolSampleKernel, {0, 1, 2});
  }
  const int64_t n = p.output_shape(0).dim(0), dim = p.output_shape(0).dim(1);
  const int64_t skip = skip_value->data<int32_t>()[0];
  if (dim > kMaxSobolDims)
    return InvalidArgument("at most ", kMaxSobolDims, " dimensions, not ", dim);
  TENON_ASSIGN_OR_RETURN(std::vector<uint32_t> columns, SobolColumns(dim));
  for (int i = 0; i < 3; ++i) p.InputNotRead(i);
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=, threads = p.services().threads,
                       columns = std::move(columns)](RunContext& run) -> absl::Status {
      ParallelFor(threads, n, ParallelGrain(static_cast<double>(dim)),
                  [&](int64_t begin, int64_t end) {
                    WriteSobolPoints(columns, dim, skip, begin, end, run.output<T>(0));
                  });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
