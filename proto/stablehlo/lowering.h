// How each op of StableHLO is written as TensorFlow's ops.
#ifndef TENON_PROTO_STABLEHLO_LOWERING_H_
#define TENON_PROTO_STABLEHLO_LOWERING_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/stablehlo/body.h"
#include "proto/stablehlo/module.h"

namespace tenon::stablehlo {

// Defines the op's results. Unimplemented for an op that has no lowering.
absl::Status LowerOp(Body& body, const Op& op);

struct Lowering {
  absl::string_view op;
  absl::Status (*lower)(Body& body, const Op& op);
};

// By topic; lower_op.cc joins them.
absl::Span<const Lowering> ElementwiseLowerings();
absl::Span<const Lowering> NumberLowerings();
absl::Span<const Lowering> ShapeLowerings();
absl::Span<const Lowering> MoveLowerings();
absl::Span<const Lowering> IndexedLowerings();
absl::Span<const Lowering> ContractionLowerings();
absl::Span<const Lowering> ReductionLowerings();
absl::Span<const Lowering> WindowLowerings();
absl::Span<const Lowering> CallLowerings();
absl::Span<const Lowering> CustomCallLowerings();
absl::Span<const Lowering> LinearAlgebraLowerings();

// ---- attributes; InvalidArgument, naming the attribute, if it is missing or another kind ----

absl::StatusOr<int64_t> IntegerOf(const Op& op, absl::string_view key);
absl::StatusOr<std::vector<int64_t>> IntegersOf(const Op& op, absl::string_view key);
absl::StatusOr<absl::string_view> TextOf(const Op& op, absl::string_view key);
// Integers that are different dimensions of a tensor of that rank.
absl::StatusOr<std::vector<int64_t>> DimsOf(const Op& op, absl::string_view key, int rank);

// ---- results ----

// Results 0, 1 … of the op are these tensors.
absl::Status DefineTensors(Body& body, const Op& op, const std::vector<Ref>& tensors);
// The op's two results are the `count` largest elements along the last axis and their indices.
absl::Status DefineTopK(Body& body, const Op& op, const Ref& x, const Ref& count);

// ---- regions ----

// The op's region i, if it is one block.
absl::StatusOr<const Block*> RegionOf(const Op& op, size_t i);
// Writes the block as a function of scalars, which must not read values from outside of it except
// constants, and returns its name.
absl::StatusOr<FuncRef> ScalarFunction(Body& body, const Block& block, absl::string_view what);
// The name of the op that the block applies to its two arguments, which is all that it does; else
// "".
absl::string_view BinaryOpOf(const Block& block);
// Elementwise ops whose attributes follow from their operands.
absl::StatusOr<Value> CompareBy(Body& body, absl::string_view tf_op, const Value& a,
                                const Value& b);
absl::StatusOr<Value> Choose(Body& body, const Value& condition, const Value& yes, const Value& no);
absl::StatusOr<Value> CastTo(Body& body, const Value& x, DType dtype);
// uint8 to uint64.
bool IsUnsigned(DType dtype);
// Whether `v` is the neutral element of "add", "maximum" and so on.
bool IsNeutral(absl::string_view op, const Value& v);

// Values that the blocks read but that are defined outside of them, each once.
std::vector<ValueId> CapturedBy(absl::Span<const Block* const> blocks);

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_LOWERING_H_
