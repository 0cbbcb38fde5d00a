// A program: a short straight-line sequence of elementwise ops, and the kernel that runs it over
// tiles that stay in the first-level cache. VectorUnary and VectorBinary are programs of one
// instruction; `_FusedElementwise` has its own as text:
//
//   "Mul $0 $1", "Add %0 $2", "LeakyRelu:alpha=0.1 %1"
//
// $i is input i, broadcast as in NumPy; %j is the result of instruction j; the last instruction
// computes the output.
#ifndef TENON_KERNELS_ELEMENTWISE_PROGRAM_H_
#define TENON_KERNELS_ELEMENTWISE_PROGRAM_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct Operand {
  enum class Kind : uint8_t { kNone, kInput, kResult };
  Kind kind = Kind::kNone;
  int index = 0;
  friend bool operator==(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.index == b.index;
  }
};

struct Instruction {
  ElementwiseOp op = ElementwiseOp::kCopy;
  std::array<Operand, 3> operands;
  float parameter = 0;
};

using Program = std::vector<Instruction>;

// InvalidArgument, quoting the instruction: unknown op, wrong number of operands, an operand that
// does not exist (yet), an empty program, an input that nothing reads.
absl::StatusOr<Program> ParseProgram(absl::Span<const std::string> text, int num_inputs);

// Merges Mul and Add (and Relu) into one instruction if nothing else reads the intermediate
// results.
Program OptimizeProgram(const Program& program);

// A kernel that runs `program` over the context's inputs and writes its output 0. For float, and
// bfloat16 and half (computed in float); Unimplemented for others. Requests scratch and in-place
// use.
absl::StatusOr<std::unique_ptr<Kernel>> MakeProgramKernel(PrepareContext& p,
                                                          const Program& program);
// The same for float inputs, with results converted to 8-bit integers while they are in the cache.
absl::StatusOr<std::unique_ptr<Kernel>> MakeProgramKernel(PrepareContext& p, const Program& program,
                                                          const QuantizeMap& to_integers);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_PROGRAM_H_
