// XlaRngBitGenerator: random bits, the same as XLA's, and the generator's next state.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/random/philox.h"
#include "kernels/random/threefry.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: algorithm, initial_state, shape.
absl::Status BitsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  const Shape& state = c.input(1);
  if (state.IsComplete() && state.dim(0) != 2 && state.dim(0) != 3) {
    return InvalidArgument("initial_state must have 2 or 3 elements, but has ", state.dim(0));
  }
  c.set_output(0, state);
  if (c.value(2) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(Shape out, ShapeOfValue(*c.value(2), MinusOne::kRefused));
  c.set_output(1, std::move(out));
  return absl::OkStatus();
}

// The state is a key and a counter of 128 bits, the low half first; without a third element, the
// key is also the high half. 64-bit results take two numbers, smaller ones the low bits of one.
template <typename T>
void PhiloxBits(const uint64_t* state, int64_t state_size, int64_t n, uint64_t* next_state,
                T* out) {
  const uint64_t low = state[1], high = state_size > 2 ? state[2] : state[0];
  PhiloxStream stream(Philox::Of(low, high, state[0]));
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 8) {
      out[i] = stream.Next64();
    } else {
      out[i] = static_cast<T>(stream.Next());
    }
  }
  constexpr int64_t kPerBlock = sizeof(T) == 8 ? 2 : 4;
  next_state[0] = state[0];
  next_state[1] = low + static_cast<uint64_t>((n + kPerBlock - 1) / kPerBlock);
  if (state_size > 2) next_state[2] = high + (next_state[1] < low ? 1 : 0);
}

// The axis along which the two numbers of each counter are neighbors: the first one of even size,
// or else the longest one.
int PairedAxis(const Shape& shape) {
  int longest = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) % 2 == 0) return i;
    if (shape.dim(i) > shape.dim(longest)) longest = i;
  }
  return longest;
}

// The state is a key and a counter.
template <typename T>
void ThreefryBits(const uint64_t* state, const Shape& shape, uint64_t* next_state, T* out) {
  const uint64_t key = state[0];
  uint64_t counter = state[1];
  if constexpr (sizeof(T) == 8) {
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      const auto [x, y] = Threefry(counter++, key);
      out[i] = x | uint64_t{y} << 32;
    }
  } else {
    const int axis = PairedAxis(shape);
    const bool scalar = shape.rank() == 0;
    const int64_t size = scalar ? 1 : shape.dim(axis);
    const int64_t outer = shape.num_elements() == 0 ? 0 : Product(shape, 0, axis);
    const int64_t inner = scalar ? 1 : Product(shape, axis + 1, shape.rank());
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < size; i += 2) {
        T* to = out + (o * size + i) * inner;
        for (int64_t j = 0; j < inner; ++j) {
          const auto [x, y] = Threefry(counter++, key);
          to[j] = static_cast<T>(x);
          if (i + 1 < size) to[inner + j] = static_cast<T>(y);
        }
      }
    }
  }
  next_state[0] = key;
  next_state[1] = counter;
}

absl::StatusOr<std::unique_ptr<Kernel>> RandomBits(PrepareContext& p) {
  if (!p.output_shape(1).IsComplete()) return PrepareLate(p, RandomBits, {2});
  p.InputNotRead(2);
  const Shape shape = p.output_shape(1);
  const int64_t state_size = p.input_shape(1).dim(0);
  const DType dtype = p.output_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int32_t algorithm = *run.input<int32_t>(0);
    const uint64_t* state = run.input<uint64_t>(1);
    uint64_t* next_state = run.output<uint64_t>(0);
    if (algorithm == kThreefryAlgorithm && state_size != 2) {
      return InvalidArgument("the state of Threefry has 2 elements, but initial_state has ",
                             state_size);
    }
    if (algorithm != kThreefryAlgorithm && !IsPhilox(algorithm)) {
      return InvalidArgument("algorithm ", algorithm,
                             " is not Philox (1), Threefry (2) or any (3)");
    }
    VisitTypes(TypeList<uint8_t, int8_t, uint32_t, int32_t, uint64_t, int64_t>{}, dtype,
               [&]<typename S>() {
                 using T = std::make_unsigned_t<S>;
                 T* out = reinterpret_cast<T*>(run.output<S>(1));
                 if (algorithm == kThreefryAlgorithm) {
                   ThreefryBits(state, shape, next_state, out);
                 } else {
                   PhiloxBits(state, state_size, shape.num_elements(), next_state, out);
                 }
               });
    return absl::OkStatus();
  });
}

const OpRegistration rng_bit_generator({
    .name = "XlaRngBitGenerator",
    .inputs = "algorithm: int32, initial_state: uint64, shape: Tshape",
    .outputs = "output_key: uint64, output: dtype",
    .attrs = "dtype: type = uint64; Tshape: type = int32",
    .types = "dtype: uint8 int8 int32 int64 uint32 uint64; Tshape: int32 int64",
    .shape = BitsShape,
    .reference = RandomBits,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
