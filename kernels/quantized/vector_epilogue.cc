#include "kernels/quantized/vector_epilogue.h"

#include <utility>

#include "env/status.h"
#include "kernels/contraction/contraction.h"

namespace tenon {
namespace {

using Sum = QuantizedFusion::Sum;
using Result = QuantizedFusion::Result;

void Fill(std::vector<float>& values, int64_t channels, float missing) {
  if (values.size() <= 1) {
    const float value = values.empty() ? missing : values[0];
    values.assign(static_cast<size_t>(channels), value);
  }
}

}  // namespace

absl::Status VectorEpilogue::CanApply(const PrepareContext& p, const QuantizedFusion& fusion) {
  const QuantizedInputs in = InputsOf(fusion);
  if (fusion.result == Result::kInt32) return Unimplemented("int32 results");
  if (fusion.sum == Sum::kFloat) return Unimplemented("a float summand");
  if (fusion.bias && p.constant(in.bias) == nullptr) {
    return Unimplemented("a bias that is not constant");
  }
  return absl::OkStatus();
}

VectorEpilogue::VectorEpilogue(PrepareContext& p, const QuantizedFusion& fusion, bool min_first,
                               std::vector<int32_t> weight_sums)
    : fusion_(fusion),
      in_(InputsOf(fusion)),
      weight_sums_(std::move(weight_sums)),
      values_(FusionValuesOf(p, fusion)),
      channels_(static_cast<size_t>(values_.channels)),
      result_bytes_(SizeOf(values_.result_dtype)),
      by_ranges_(in_, values_.weights_ranges) {
  values_.min_first = min_first;
  values_.weight_sums = weight_sums_.data();
  TailSummand summand = TailSummand::kNone;
  if (in_.summand >= 0) {
    summand_bytes_ = SizeOf(values_.summand_dtype);
    summand =
        values_.summand_dtype == DType::kQint8 ? TailSummand::kSigned : TailSummand::kUnsigned;
    // The result may overlap the summand, but never the data.
    const bool same_size = summand_bytes_ == result_bytes_;
    if (same_size && !SameInput(p, in_.summand, in_.data)) p.AllowInPlace(in_.summand, 0);
  }
  fn_ = FindIntegerTail(summand,
                        values_.result_dtype == DType::kFloat   ? TailResult::kFloat
                        : values_.result_dtype == DType::kQint8 ? TailResult::kSigned
                                                                : TailResult::kUnsigned,
                        fusion.swish);
}

template <typename Get>
VectorEpilogue::Values VectorEpilogue::Make(const Get& get) const {
  FusionValues v = values_;
  GatherRanges(
      fusion_, [&get](int i) { return static_cast<const float*>(get(i)); }, v);
  if (fusion_.bias) v.bias = get(in_.bias);
  Values made;
  Epilogue& e = made.epilogue;
  e = MakeEpilogue(fusion_, v);
  if (fusion_.result != Result::kDequantized) made.result_ranges = ResultRanges(fusion_, v);
  Fill(e.scale, v.channels, 1);
  Fill(e.bias, v.channels, 0);
  made.tail.scale = e.scale.data();
  made.tail.bias = e.bias.data();
  made.tail.sum_scale = e.sum_scale.empty() ? 0.0f : e.sum_scale[0];
  made.tail.relu = fusion_.relu;
  made.tail.swish_scale = e.swish_scale;
  made.tail.zero = static_cast<float>(fusion_.result_zero);
  return made;
}

absl::Status VectorEpilogue::Prepare(PrepareContext& p) {
  std::vector<Tensor> plain(static_cast<size_t>(in_.count));
  const auto read = [&](int i) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(plain[static_cast<size_t>(i)], p.constant(i)->Plain());
    return absl::OkStatus();
  };
  for (int begin : {in_.data_range, in_.weights_range, in_.result_range, in_.summand_range}) {
    for (int i = begin; begin >= 0 && i < begin + 2; ++i) {
      if (p.constant(i) == nullptr) return absl::OkStatus();
      TENON_RETURN_IF_ERROR(read(i));
    }
  }
  if (fusion_.bias) TENON_RETURN_IF_ERROR(read(in_.bias));
  constant_ = std::make_shared<const Values>(
      Make([&plain](int i) -> const void* { return plain[static_cast<size_t>(i)].raw(); }));
  return absl::OkStatus();
}

std::shared_ptr<const VectorEpilogue::Values> VectorEpilogue::Begin(RunContext& r) const {
  const auto make = [&]() -> absl::StatusOr<Values> {
    return Make([&r](int i) -> const void* { return r.input(i); });
  };
  std::shared_ptr<const Values> values =
      constant_ != nullptr ? constant_ : *by_ranges_.Get(r, make);
  SetRanges(r, values->result_ranges);
  return values;
}

void VectorEpilogue::Apply(RunContext& r, const Values& values, const NarrowSums& part) const {
  const size_t at = part.row * channels_ + part.column;
  TailPart p;
  p.sums = part.sums;
  p.sums_row = part.sums_row;
  if (in_.summand >= 0) p.summand = r.input<char>(in_.summand) + at * summand_bytes_;
  p.result = r.output<char>(0) + at * result_bytes_;
  p.row = channels_;
  p.rows = part.rows;
  p.channel = part.column;
  p.channels = part.columns;
  fn_(values.tail, p);
}

}  // namespace tenon
