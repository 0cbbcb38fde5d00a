// Recurrent layers over whole sequences: LSTM, GRU and simple cells. The products of the inputs
// with their weights, for all steps, are an input; see ops/nn/recurrence.op.cc.
#ifndef TENON_KERNELS_SEQUENCE_RECURRENCE_H_
#define TENON_KERNELS_SEQUENCE_RECURRENCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "kernels/interface/kernel.h"
#include "kernels/sequence/recurrence_simd.h"

namespace tenon {

// The attributes of _Recurrence.
struct RecurrenceAttrs {
  RecurrentCell cell = RecurrentCell::kLstm;
  GateActivations activations;
  int sequences = 1;
  bool biased = false, peephole = false, masked = false, projected = false;
  float cell_clip = 0, projection_clip = 0;  // lstm: limits of magnitude; 0: none
  bool time_major = true, y_time_major = true;
  bool mask_time_major = true;
  bool last_only = false, zero_masked = false;
  bool longer_mask = false;  // it may have more steps than x; y has those of the mask
  std::vector<int64_t> reverse, y_reverse, mask_reverse;  // for each sequence

  int states() const { return cell == RecurrentCell::kLstm ? 2 : 1; }
  int64_t gates() const { return static_cast<int64_t>(NumGates(cell)); }
  // Positions of inputs of sequence s.
  int x(int s) const { return s; }
  int w(int s) const { return sequences + s; }
  int state(int s, int i) const { return 2 * sequences + s * states() + i; }
  int bias(int s) const { return (2 + states()) * sequences + s; }
  int peepholes(int s) const { return bias(s) + (biased ? sequences : 0); }
  int mask(int s) const { return peepholes(s) + (peephole ? sequences : 0); }
  int projection(int s) const { return mask(s) + (masked ? sequences : 0); }
  int num_inputs() const { return projection(0) + (projected ? sequences : 0); }
  // Positions of outputs.
  int y(int s) const { return s; }
  int last(int s, int i) const { return sequences + s * states() + i; }
};

// InvalidArgument if they contradict each other.
absl::StatusOr<RecurrenceAttrs> ReadRecurrenceAttrs(const AttrReader& attrs);

absl::StatusOr<std::unique_ptr<Kernel>> RecurrenceReference(PrepareContext& p);
// Unimplemented if the recurrent weights are not constant.
absl::StatusOr<std::unique_ptr<Kernel>> RecurrenceVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_RECURRENCE_H_
