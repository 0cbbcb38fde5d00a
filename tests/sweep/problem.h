// A problem of the sweep: a line, made executable.
#ifndef TENON_TESTS_SWEEP_PROBLEM_H_
#define TENON_TESTS_SWEEP_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "tests/support/golden_case.h"
#include "tests/sweep/memory.h"

namespace tenon::sweep {

struct Problem {
  GoldenCase golden;
  Node node;           // with the op's plain name
  size_t outputs = 0;  // those to compare; 0: all
  std::vector<GuardedTensor> inputs;
  // After SetSpecial: inputs that give the tolerance, without NaN and infinity. Else empty.
  std::vector<Tensor> ordinary;
  bool strict_nan = false;  // run with TENON_STRICT_NAN
};

// `line` is as described in draw.h; its random inputs are drawn from `seed`.
absl::StatusOr<Problem> MakeProblem(const std::string& line, uint64_t seed);

// Replaces one element of one floating-point input by NaN, an infinity, minus zero, a denormal or a
// huge number, drawn from `seed`. Returns what it did, as
// text; empty if there is no input in which these travel as in the reference kernel.
std::string SetSpecial(Problem& problem, uint64_t seed);

struct Verdict {
  bool accelerated = false;  // false: there was nothing to compare
  std::string implementation;
  std::string wrong;  // empty if the results are right
  // The first output's error against the reference kernel in double: the root mean square of the
  // differences over that of the results. Negative: there is no such kernel.
  double error = -1;
  // Without TENON_STRICT_NAN: elements whose NaN differs as docs/NUMERICS.md says.
  int64_t excepted = 0;
};

// Compares the accelerated kernel with the reference kernel, in double if that supports it and no
// value is special: with 1 thread and with 2 or 4, twice,
// because equal inputs must give equal bits, whatever memory contains and, with the exceptions in
// docs/NUMERICS.md, whatever the number of threads. InvalidArgument if the
// reference kernel refuses the problem.
absl::StatusOr<Verdict> Check(const Problem& problem);

}  // namespace tenon::sweep

#endif  // TENON_TESTS_SWEEP_PROBLEM_H_
