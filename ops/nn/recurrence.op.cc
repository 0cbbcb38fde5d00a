// _Recurrence: recurrent layers over whole sequences. Only rewriting creates it, from loops over
// single steps (graph_rewrite/rules/recurrence.rule.cc). N sequences of equal sizes are independent
// of each other, such as the two directions of a bidirectional layer. For each:
//
//   x         the inputs' products with their weights, and the biases, of all steps:
//             [steps, batch, gates * units], or [batch, steps, …] (time_major = false)
//   w         the recurrent weights [width, gates * units]; width is units without a projection
//   states    h [batch, width], and for an LSTM c [batch, units], before the first step
//   biases    gru: of the candidate's recurrent product [units]
//   peepholes lstm: weights of c for the input, forget and output gate [3, units]
//   masks     [steps, batch] or [steps, batch, 1], or [batch, steps, …] (mask_time_major = false):
//             where false, the step keeps the states and repeats the result before it (0 at first),
//             or gives 0 (zero_masked). longer_mask: it may have more steps than x; y has as many
//             as it, 0 after those of x
//   projections lstm: weights that h' is multiplied by [units, width]
//   y         each step's result, or only the last one's (last_only; 0 if there is no step)
//   last      the states after the last step
//
// reverse: x is read from its end; y_reverse: y is written from its end; mask_reverse: the mask,
// which is in the order of computation otherwise, is read from its end. The cells are those of
// RecurrentCell (kernels/sequence/recurrence_simd.h), with their order of gates:
//   lstm      c' = f * c + i * a(cell), h' = o * a(c'); c' is limited to -cell_clip..cell_clip, the
//             projected h' to -projection_clip..projection_clip, unless these are 0
//   gru       h' = z * h + (1 - z) * a(x + r * (h w + bias))
//   gru_reset_before  h' = z * h + (1 - z) * a(x + (r * h) w)
//   simple    h' = a(x + h w)
#include "kernels/sequence/recurrence.h"

#include <utility>
#include <vector>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status RecurrenceShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const RecurrenceAttrs a, ReadRecurrenceAttrs(c.attrs()));
  if (c.num_inputs() != a.num_inputs()) {
    return InvalidArgument("takes ", a.num_inputs(), " inputs, but has ", c.num_inputs());
  }
  int64_t steps = -1, batch = -1, units = -1, width = -1;
  int64_t mask_steps = -1;  // if they differ
  const int64_t gates = a.gates();
  auto merge = [](int64_t& to, int64_t from) {
    if (from < 0) return absl::OkStatus();
    if (to >= 0 && to != from) return InvalidArgument("sizes ", to, " and ", from, " differ");
    to = from;
    return absl::OkStatus();
  };
  for (int s = 0; s < a.sequences; ++s) {
    for (int i = 0; i < a.states(); ++i) {
      const Shape& state = c.input(a.state(s, i));
      TENON_RETURN_IF_ERROR(c.ExpectRank(a.state(s, i), 2));
      if (!state.has_rank()) continue;
      TENON_RETURN_IF_ERROR(merge(batch, state.dim(0)));
      TENON_RETURN_IF_ERROR(merge(i == 0 ? width : units, state.dim(1)));
    }
    for (const int input : {a.w(s), a.projected ? a.projection(s) : a.w(s)}) {
      TENON_RETURN_IF_ERROR(c.ExpectRank(input, 2));
    }
    if (c.input(a.w(s)).has_rank()) TENON_RETURN_IF_ERROR(merge(width, c.input(a.w(s)).dim(0)));
    if (a.projected && c.input(a.projection(s)).has_rank()) {
      TENON_RETURN_IF_ERROR(merge(units, c.input(a.projection(s)).dim(0)));
      TENON_RETURN_IF_ERROR(merge(width, c.input(a.projection(s)).dim(1)));
    }
    TENON_RETURN_IF_ERROR(c.ExpectRank(a.x(s), 3));
    if (!c.input(a.x(s)).has_rank()) continue;
    TENON_RETURN_IF_ERROR(merge(steps, c.input(a.x(s)).dim(a.time_major ? 0 : 1)));
    TENON_RETURN_IF_ERROR(merge(batch, c.input(a.x(s)).dim(a.time_major ? 1 : 0)));
  }
  if (!a.projected) {
    TENON_RETURN_IF_ERROR(merge(units, width));
    width = units;
  }
  if (units > (int64_t{1} << 30)) return InvalidArgument("a cell of ", units, " units");
  const int64_t columns = units < 0 ? -1 : gates * units;
  auto expect = [&](int input, const Shape& wanted) {
    if (wanted.CompatibleWith(c.input(input))) return absl::OkStatus();
    return InvalidArgument("input ", input, " has shape ", c.input(input).ToString(),
                           ", but must have ", wanted.ToString());
  };
  for (int s = 0; s < a.sequences; ++s) {
    TENON_RETURN_IF_ERROR(expect(a.w(s), Shape({width, columns})));
    if (a.projected) TENON_RETURN_IF_ERROR(expect(a.projection(s), Shape({units, width})));
    TENON_RETURN_IF_ERROR(expect(
        a.x(s), a.time_major ? Shape({steps, batch, columns}) : Shape({batch, steps, columns})));
    if (a.biased) TENON_RETURN_IF_ERROR(expect(a.bias(s), Shape({units})));
    if (a.peephole) TENON_RETURN_IF_ERROR(expect(a.peepholes(s), Shape({3, units})));
    if (a.masked) {
      const Shape& mask = c.input(a.mask(s));
      std::vector<int64_t> wanted = {a.longer_mask ? -1 : steps, batch};
      if (!a.mask_time_major) std::swap(wanted[0], wanted[1]);
      if (mask.has_rank() && mask.rank() == 3) wanted.push_back(1);
      TENON_RETURN_IF_ERROR(expect(a.mask(s), Shape(wanted)));
      if (a.longer_mask) {
        TENON_RETURN_IF_ERROR(
            merge(mask_steps, mask.has_rank() ? mask.dim(a.mask_time_major ? 0 : 1) : -1));
      }
      if (mask_steps >= 0 && mask_steps < steps) {
        return InvalidArgument("the mask has ", mask_steps, " steps, but the input ", steps);
      }
    }
    const int64_t results = a.last_only ? 1 : a.longer_mask ? mask_steps : steps;
    c.set_output(a.y(s),
                 a.y_time_major ? Shape({results, batch, width}) : Shape({batch, results, width}));
    for (int i = 0; i < a.states(); ++i) {
      c.set_output(a.last(s, i), Shape({batch, i == 0 ? width : units}));
    }
  }
  return absl::OkStatus();
}

// Every sequence of the batch is computed alone. A tensor with the steps first has its rows along
// axis 1, so only those with the batch first can be followed.
bool SequencesApart(const BatchAxisNode& n) {
  const auto a = ReadRecurrenceAttrs(AttrReader(n.node));
  if (!a.ok() || static_cast<int>(n.inputs.size()) != a->num_inputs()) return false;
  const auto is = [&](int input, BatchAxis axis) {
    return n.inputs[static_cast<size_t>(input)] == axis;
  };
  for (int s = 0; s < a->sequences; ++s) {
    if (a->time_major || !is(a->x(s), BatchAxis::kFirst)) return false;
    if (!is(a->w(s), BatchAxis::kNone)) return false;
    for (int i = 0; i < a->states(); ++i) {
      if (!is(a->state(s, i), BatchAxis::kFirst)) return false;
    }
    if (a->biased && !is(a->bias(s), BatchAxis::kNone)) return false;
    if (a->peephole && !is(a->peepholes(s), BatchAxis::kNone)) return false;
    if (a->projected && !is(a->projection(s), BatchAxis::kNone)) return false;
    if (a->masked && (a->mask_time_major || !is(a->mask(s), BatchAxis::kFirst))) return false;
  }
  return true;
}

// Once per step.
int64_t StepsOf(const Node& node, absl::Span<const TensorSpec> in) {
  const auto a = ReadRecurrenceAttrs(AttrReader(node));
  if (!a.ok() || static_cast<int>(in.size()) != a->num_inputs()) return 1;
  const Shape& x = in[static_cast<size_t>(a->x(0))].shape;
  return x.rank() == 3 ? x.dim(a->time_major ? 0 : 1) : 1;
}

const OpRegistration recurrence({
    .name = "_Recurrence",
    .inputs = "x: N * T, w: N * T, states: num_states * T, biases: num_biases * T, "
              "peepholes: num_peepholes * T, masks: num_masks * bool, "
              "projections: num_projections * T",
    .outputs = "y: N * T, last: num_states * T",
    .attrs = "T: type = float; N: int = 1; num_states: int; num_biases: int = 0; "
             "num_peepholes: int = 0; num_masks: int = 0; num_projections: int = 0; "
             "cell: string; activations: list(string); cell_clip: float = 0; projection_clip: "
             "float = 0; "
             "alpha: float = 0.2; beta: float = 0.5; time_major: bool = true; "
             "y_time_major: bool = true; mask_time_major: bool = true; reverse: list(int) = []; "
             "y_reverse: list(int) = []; mask_reverse: list(int) = []; last_only: bool = false; "
             "zero_masked: bool = false; longer_mask: bool = false",
    .types = "T: float",
    .shape = RecurrenceShape,
    .reference = RecurrenceReference,
    .accelerated = RecurrenceVector,
    .native = "_MklNativeRecurrence",
    .eager = false,
    .internal = true,
    .batch_axis = SequencesApart,
    .weight_reads = StepsOf,
    .error_bound = ErrorBound::kRecurrence,
});

}  // namespace
}  // namespace tenon
