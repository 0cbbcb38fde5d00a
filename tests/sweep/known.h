// Problems on which oneDNN once gave wrong results or crashed, one or more for each row of
// primitive_cache/known_defects.cc. They run under every limit of the instruction set.
#ifndef TENON_TESTS_SWEEP_KNOWN_H_
#define TENON_TESTS_SWEEP_KNOWN_H_

#include "absl/types/span.h"

namespace tenon::sweep {

absl::Span<const char* const> KnownProblems();

}  // namespace tenon::sweep

#endif  // TENON_TESTS_SWEEP_KNOWN_H_
