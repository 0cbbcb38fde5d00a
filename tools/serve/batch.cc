#include "tools/serve/batch.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

bool SameRows(const Tensor& a, const Tensor& b) {
  const std::vector<int64_t> x = a.dims(), y = b.dims();
  return a.dtype() == b.dtype() && x.size() == y.size() &&
         std::equal(x.begin() + 1, x.end(), y.begin() + 1);
}

// Copies the rows of `from` to those of `to` that begin at `row`.
void CopyRows(const Tensor& from, int64_t row, Tensor& to) {
  if (from.num_elements() == 0) return;
  const int64_t elements = from.num_elements() / from.dims()[0];
  if (from.dtype() == TENON_STRING) {
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      to.SetString(row * elements + i, from.GetString(i));
    }
    return;
  }
  char* const data = static_cast<char*>(tenon_tensor_data(to.get()));
  std::memcpy(data + static_cast<size_t>(row * elements) * ElementBytes(from.dtype()),
              tenon_tensor_data(from.get()), from.bytes());
}

}  // namespace

int64_t RowsOf(const std::vector<std::pair<std::string, Tensor>>& inputs) {
  int64_t rows = 0;
  for (const auto& [name, tensor] : inputs) {
    const std::vector<int64_t> dims = tensor.dims();
    if (dims.empty() || (rows != 0 && dims[0] != rows)) return 0;
    rows = dims[0];
  }
  return rows;
}

bool Agree(const Job& a, const Job& b) {
  if (a.servable != b.servable || a.runnable != b.runnable || a.outputs != b.outputs ||
      a.inputs.size() != b.inputs.size()) {
    return false;
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (a.inputs[i].first != b.inputs[i].first ||
        !SameRows(a.inputs[i].second, b.inputs[i].second)) {
      return false;
    }
  }
  return true;
}

std::vector<std::pair<std::string, Tensor>> Join(const std::vector<std::unique_ptr<Job>>& jobs,
                                                 int64_t rows) {
  std::vector<std::pair<std::string, Tensor>> joined;
  for (size_t i = 0; i < jobs.front()->inputs.size(); ++i) {
    const auto& [name, first] = jobs.front()->inputs[i];
    std::vector<int64_t> dims = first.dims();
    dims[0] = rows;
    Tensor all = Tensor::Create(first.dtype(), dims);
    int64_t row = 0;
    for (const auto& job : jobs) {
      CopyRows(job->inputs[i].second, row, all);
      row += job->rows;
    }
    if (row < rows) {
      const Job& last = *jobs.back();
      const Tensor padding = Rows(last.inputs[i].second, last.rows - 1, 1);
      for (; row < rows; ++row) CopyRows(padding, row, all);
    }
    joined.emplace_back(name, std::move(all));
  }
  return joined;
}

absl::StatusOr<std::vector<std::vector<Tensor>>> TakeApart(
    const std::vector<Tensor>& outputs, const std::vector<std::unique_ptr<Job>>& jobs,
    int64_t rows) {
  for (const Tensor& output : outputs) {
    const std::vector<int64_t> dims = output.dims();
    if (dims.empty() || dims[0] != rows) {
      return absl::InternalError(absl::StrCat("an output does not have ", rows, " rows"));
    }
  }
  std::vector<std::vector<Tensor>> parts(jobs.size());
  int64_t row = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    for (const Tensor& output : outputs) parts[j].push_back(Rows(output, row, jobs[j]->rows));
    row += jobs[j]->rows;
  }
  return parts;
}

}  // namespace tenon::serve
