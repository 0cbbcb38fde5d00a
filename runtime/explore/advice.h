// What to try first, to make a model faster: what follows from its profile, largest gain first.
#ifndef TENON_RUNTIME_EXPLORE_ADVICE_H_
#define TENON_RUNTIME_EXPLORE_ADVICE_H_

#include <string>
#include <vector>

#include "runtime/explore/exploration.h"
#include "runtime/explore/machine_peak.h"

namespace tenon {

struct Machine {
  MachinePeak peak;       // in the precision of the exploration
  bool bfloat16 = false;  // instructions for it
  int cpus = 1;
};
Machine ThisMachine(const MachinePeak& peak);

// What limits a step.
enum class Limit {
  kCompute,   // multiply-adds
  kWeights,   // reading its weights from memory: fewer operations than that takes
  kSequence,  // a recurrent layer: one step after the other
  kMoves,     // no arithmetic that counts: copies, lookups, elementwise ops
};
const char* Name(Limit limit);
Limit LimitOf(const Exploration& e, const ExploredStep& step, const Machine& machine);

struct Advice {
  enum class Kind {
    kBfloat16,
    kSmallWeights,  // weights in fewer bits
    kBatch,
    kNearMiss,
    kThreads,
    kNotAccelerated,  // ops that run reference kernels
  };
  Kind kind = Kind::kBfloat16;
  std::string what;     // "compute in bfloat16: --precision bf16"
  std::string why;      // "93 % of the time goes into multiply-adds"
  double saves_ms = 0;  // an estimate
};
const char* Name(Advice::Kind kind);

// Needs a profile; without one, only near misses. Estimates assume that bfloat16 halves the time of
// multiply-adds, that 8-bit weights save two fifths of the time of products that wait for weights,
// and that a batch of eight does the same to recurrent layers.
std::vector<Advice> Advise(const Exploration& e, const Machine& machine);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_ADVICE_H_
