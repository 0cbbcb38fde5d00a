// ReverseSequence: reverses the first seq_lengths[i] elements of a dimension in batch entry i.
#include "kernels/interface/axis.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Axes {
  int seq = 0;
  int batch = 0;
};

absl::StatusOr<Axes> AxesOf(const AttrReader& attrs, const Shape& in) {
  TENON_ASSIGN_OR_RETURN(const int64_t seq, attrs.Int("seq_dim"));
  const int64_t batch = attrs.Int("batch_dim", 0);
  if (seq < 0 || seq >= in.rank() || batch < 0 || batch >= in.rank() || seq == batch) {
    return InvalidArgument("seq_dim ", seq, " and batch_dim ", batch,
                           " must be two dimensions of shape ", in.ToString());
  }
  return Axes{static_cast<int>(seq), static_cast<int>(batch)};
}

absl::Status ReverseSequenceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& in = c.input(0);
  c.set_output(0, in);
  if (!in.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Axes axes, AxesOf(c.attrs(), in));
  if (!c.input(1).CompatibleWith(Shape({in.dim(axes.batch)}))) {
    return InvalidArgument("seq_lengths of shape ", c.input(1).ToString(), " for a batch of ",
                           in.dim(axes.batch));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ReverseSequence(PrepareContext& p) {
  const Shape in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Axes axes, AxesOf(p.attrs(), in));
  const int first = std::min(axes.seq, axes.batch), second = std::max(axes.seq, axes.batch);
  const int64_t outer = Product(in, 0, first), n1 = in.dim(first);
  const int64_t middle = Product(in, first + 1, second), n2 = in.dim(second);
  const int64_t inner = Product(in, second + 1, in.rank());
  const bool seq_first = axes.seq < axes.batch;
  const int64_t sequence = in.dim(axes.seq), batch = in.dim(axes.batch);
  const DType dtype = p.input_dtype(0), length_type = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> lengths = IntegersAt(length_type, run.input(1), batch);
    for (int64_t length : lengths) {
      if (length < 0 || length > sequence) {
        return InvalidArgument("a sequence length of ", length, " for ", sequence, " elements");
      }
    }
    VisitStorage(dtype, [&]<typename T>() {
      const T* x = run.input<T>(0);
      T* y = run.output<T>(0);
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < n1; ++i) {
          for (int64_t m = 0; m < middle; ++m) {
            for (int64_t j = 0; j < n2; ++j) {
              const int64_t length = lengths[static_cast<size_t>(seq_first ? j : i)];
              const int64_t s = seq_first ? i : j;
              const int64_t from = s < length ? length - 1 - s : s;
              const int64_t a = seq_first ? from : i, b = seq_first ? j : from;
              y = std::copy_n(x + (((o * n1 + a) * middle + m) * n2 + b) * inner, inner, y);
            }
          }
        }
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration reverse_sequence_op({
    .name = "ReverseSequence",
    .inputs = "input: T, seq_lengths: Tlen",
    .outputs = "output: T",
    .attrs = "seq_dim: int; batch_dim: int = 0; T: type; Tlen: type = int64",
    .types = "Tlen: int32 int64",
    .shape = ReverseSequenceShape,
    .reference = ReverseSequence,
});

}  // namespace
}  // namespace tenon
