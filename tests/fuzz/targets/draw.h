// Draws nodes, attributes and tensors from the bytes of a fuzz input. What can be drawn follows
// from the op table alone, so an op that is added is fuzzed too.
#ifndef TENON_TESTS_FUZZ_TARGETS_DRAW_H_
#define TENON_TESTS_FUZZ_TARGETS_DRAW_H_

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"
#include "ops/op.h"
#include "tests/fuzz/targets/byte_reader.h"

namespace tenon {

enum class Magnitudes {
  kSmall,   // results can be compared
  kAbsurd,  // also the ends of each type's range, NaN and infinities
};

// An op of the table. Its number in the input is compared with a hash of each name, so that most
// inputs keep their meaning when an op is added.
const OpInfo& DrawOp(ByteReader& bytes);

// Mostly one of at most four small dimensions; at most 4096 elements.
Shape DrawShape(ByteReader& bytes);

// Invalid if the dtype has no elements.
Tensor DrawTensor(ByteReader& bytes, DType dtype, const Shape& shape, Magnitudes numbers);

struct OpCall {
  Node node;  // with complete attributes
  std::vector<Tensor> inputs;
};

// Gives the tensor for an input of this dtype, or an invalid one: none.
using DrawInput = std::function<Tensor(DType dtype)>;

// None if the attributes contradict each other, or an input has no tensor.
std::optional<OpCall> DrawCall(ByteReader& bytes, const OpInfo& op, Magnitudes numbers,
                               const DrawInput& input);

// "Relu(float[2,3]) T=float", for messages.
std::string Describe(const OpCall& call);

}  // namespace tenon

#endif  // TENON_TESTS_FUZZ_TARGETS_DRAW_H_
