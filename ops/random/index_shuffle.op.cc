// RandomIndexShuffle: where a pseudorandom permutation of 0 ... max_index takes an index. The
// permutation is the Simon block cipher (Beaulieu and others, 2013) on words as wide as the indices
// need, repeated until the result is in range.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/interface/in_parts.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Arithmetic on words of `bits` bits.
class Simon {
 public:
  Simon(int bits, const std::array<uint32_t, 3>& key, int64_t rounds)
      : bits_(bits), mask_((uint64_t{1} << bits) - 1) {
    uint64_t z = 0x7369f885192c0ef5 & mask_;
    for (const uint32_t word : key) keys_.push_back(word & mask_);
    for (size_t i = 3; i < static_cast<size_t>(rounds); ++i) {
      const uint64_t last = keys_[i - 1];
      keys_.push_back((0xfffffffc & mask_) ^ (z & 1) ^ keys_[i - 3] ^ Left(last, bits_ - 3) ^
                      Left(last, bits_ - 4));
      z >>= 1;
    }
  }

  uint64_t Encrypt(uint64_t value) const {
    uint64_t left = value >> bits_ & mask_, right = value & mask_;
    for (size_t i = 0; i + 1 < keys_.size(); i += 2) {
      left ^= Mix(right) ^ keys_[i];
      right ^= Mix(left) ^ keys_[i + 1];
    }
    return left << bits_ | right;
  }

 private:
  uint64_t Left(uint64_t x, int by) const { return (x << by | x >> (bits_ - by)) & mask_; }
  uint64_t Mix(uint64_t x) const { return (Left(x, 1) & Left(x, 8 % bits_)) ^ Left(x, 2); }

  int bits_;
  uint64_t mask_;
  std::vector<uint64_t> keys_;  // of the rounds
};

using Key = std::array<uint32_t, 3>;

// The permutation of 0 ... most.
class Permutation {
 public:
  Permutation(const Key& key, uint64_t most, int64_t rounds)
      : most_(most), cipher_(WordBits(most), key, rounds) {}

  uint64_t operator()(uint64_t index) const {
    if (most_ == 0) return 0;
    do index = cipher_.Encrypt(index);
    while (index > most_);
    return index;
  }

 private:
  static int WordBits(uint64_t most) {
    const auto largest = static_cast<double>(std::max<uint64_t>(most, 1));
    const int needed = static_cast<int>(std::ceil(std::log2(largest)));
    return std::clamp(needed + needed % 2, 16, 64) / 2;
  }

  uint64_t most_;
  Simon cipher_;
};

// The number of results; -1: unknown.
absl::Status IndexShuffleShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t rounds, c.attrs().Int("rounds"));
  if (rounds < 4 || rounds > 1024 || rounds % 2 != 0) {
    return InvalidArgument("rounds must be even and from 4 to 1024, got ", rounds);
  }
  c.set_output(0, Shape::Unknown());
  for (int i = 0; i < 3; ++i) {
    if (!c.input(i).has_rank()) return absl::OkStatus();
    const int most = i == 1 ? 2 : 1;
    if (c.input(i).rank() > most || c.input(i).rank() < most - 1) {
      return InvalidArgument("input ", i, " must have rank ", most - 1, " or ", most, ", got ",
                             c.input(i).ToString());
    }
  }
  const Shape& seed = c.input(1);
  const int last = seed.rank() - 1;
  if (seed.dim(last) >= 0 && seed.dim(last) != 3) {
    return InvalidArgument("a seed has 3 values, got ", seed.ToString());
  }
  int64_t n = -2;  // no input is a list
  for (const auto& [i, is_list] :
       {std::pair(0, c.input(0).rank() == 1), std::pair(1, seed.rank() == 2),
        std::pair(2, c.input(2).rank() == 1)}) {
    if (!is_list) continue;
    const int64_t size = c.input(i).dim(0);
    if (n >= 0 && size >= 0 && size != n) {
      return InvalidArgument("inputs for ", n, " and for ", size, " indices");
    }
    n = std::max(size, n);
  }
  c.set_output(0, n == -2 ? Shape() : Shape({n}));
  return absl::OkStatus();
}

template <typename Seed>
Key KeyAt(const void* seeds, int64_t i) {
  const Seed* seed = static_cast<const Seed*>(seeds) + 3 * i;
  return {static_cast<uint32_t>(seed[0]), static_cast<uint32_t>(seed[1]),
          static_cast<uint32_t>(seed[2])};
}

absl::StatusOr<std::unique_ptr<Kernel>> IndexShuffle(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t rounds, p.attrs().Int("rounds"));
  const int64_t n = p.output_shape(0).num_elements();
  // Scalars, and a seed that is a vector, serve all indices.
  const int64_t index_step = p.input_shape(0).rank(), seed_step = p.input_shape(1).rank() - 1;
  const int64_t most_step = p.input_shape(2).rank();
  using Types = TypeList<int32_t, uint32_t, int64_t, uint64_t>;
  Key (*key_at)(const void*, int64_t) = nullptr;
  VisitTypes(Types{}, p.input_dtype(1), [&]<typename Seed>() { key_at = KeyAt<Seed>; });
  const int threads = p.services().threads;
  return DispatchType(Types{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const auto permutation_at = [&](int64_t i) {
        return Permutation(key_at(run.input(1), i * seed_step),
                           static_cast<uint64_t>(run.input<T>(2)[i * most_step]), rounds);
      };
      if (n == 0) return absl::OkStatus();
      std::optional<Permutation> of_all;
      if (seed_step == 0 && most_step == 0) of_all.emplace(permutation_at(0));
      const double ns = 10 * static_cast<double>(rounds);
      const auto shuffle = [&](NoPart&, int64_t i) -> absl::Status {
        const T index = run.input<T>(0)[i * index_step], most = run.input<T>(2)[i * most_step];
        // Other indices may never lead into the range.
        if (index < T(0) || index > most) {
          return InvalidArgument("index ", index, " is not in [0, ", most, "]");
        }
        const auto from = static_cast<uint64_t>(index);
        run.output<T>(0)[i] =
            static_cast<T>(of_all.has_value() ? (*of_all)(from) : permutation_at(i)(from));
        return absl::OkStatus();
      };
      return InParts<NoPart>(threads, n, ns, shuffle).status();
    });
  });
}

const OpRegistration random_index_shuffle({
    .name = "RandomIndexShuffle",
    .inputs = "index: dtype, seed: Tseed, max_index: dtype",
    .outputs = "output: dtype",
    .attrs = "rounds: int = 4; dtype: type; Tseed: type",
    .types = "dtype: int32 uint32 int64 uint64; Tseed: int32 uint32 int64 uint64",
    .shape = IndexShuffleShape,
    .reference = IndexShuffle,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
