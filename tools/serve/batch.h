// Joins the inputs of several jobs along axis 0, and takes the outputs apart.
#ifndef TENON_TOOLS_SERVE_BATCH_H_
#define TENON_TOOLS_SERVE_BATCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/scheduler.h"

namespace tenon::serve {

// The number of rows that all inputs have; 0: it differs, or some input has none.
int64_t RowsOf(const std::vector<std::pair<std::string, Tensor>>& inputs);

// Whether one run can serve both: the same signature and outputs, inputs of the same dtypes and
// shapes but for axis 0, and with `any_lengths` but for all dimensions that the model leaves free.
bool Agree(const Job& a, const Job& b, bool any_lengths);

// The inputs of all jobs, one after the other, with the last row repeated up to `rows` rows. What
// is shorter than others in a dimension is filled up with its first element; InvalidArgument if it
// has none.
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> Join(
    const std::vector<std::unique_ptr<Job>>& jobs, int64_t rows);

// The part of each job. Error if an output does not have `rows` rows.
absl::StatusOr<std::vector<std::vector<Tensor>>> TakeApart(
    const std::vector<Tensor>& outputs, const std::vector<std::unique_ptr<Job>>& jobs,
    int64_t rows);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_BATCH_H_
