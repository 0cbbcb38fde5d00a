#include "tools/serve/batch.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

// Whether the rows of both may lie in one tensor.
bool Fit(const Tensor& a, const Tensor& b, const TensorSpec& spec, bool any_lengths) {
  const std::vector<int64_t> x = a.dims(), y = b.dims();
  if (a.dtype() != b.dtype() || x.size() != y.size()) return false;
  for (size_t d = 1; d < x.size(); ++d) {
    const bool free = any_lengths && d < spec.dims->size() && (*spec.dims)[d] < 0;
    if (x[d] != y[d] && !free) return false;
  }
  return true;
}

size_t BytesOf(const Tensor& tensor) { return ElementBytes(tensor.dtype()); }

char* DataOf(const Tensor& tensor) { return static_cast<char*>(tenon_tensor_data(tensor.get())); }

// Copies the rows of `from` to those of `to` that begin at `row`. All dimensions but the first are
// the same.
void CopyRows(const Tensor& from, int64_t row, Tensor& to) {
  if (from.num_elements() == 0) return;
  const int64_t elements = from.num_elements() / from.dims()[0];
  if (from.dtype() == TENON_STRING) {
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      to.SetString(row * elements + i, from.GetString(i));
    }
    return;
  }
  std::memcpy(DataOf(to) + static_cast<size_t>(row * elements) * BytesOf(from), DataOf(from),
              from.bytes());
}

// The same where rows of `to` are longer: fills them up with the first element of `from`. Not for
// strings.
void CopyPadded(const Tensor& from, int64_t row, const Tensor& to) {
  const std::vector<int64_t> small = from.dims(), large = to.dims();
  const size_t size = BytesOf(from), last = small.size() - 1;
  int64_t per_row = 1;
  for (size_t d = 1; d < large.size(); ++d) per_row *= large[d];
  char* const out = DataOf(to) + static_cast<size_t>(row * per_row) * size;
  for (int64_t i = 0; i < small[0] * per_row; ++i) {
    std::memcpy(out + static_cast<size_t>(i) * size, DataOf(from), size);
  }
  // Line by line along the last dimension, counting the others.
  std::vector<int64_t> at(small.size(), 0);
  const int64_t lines = from.num_elements() / small[last];
  for (int64_t line = 0; line < lines; ++line) {
    int64_t target = 0;
    for (size_t d = 0; d < last; ++d) target = (target + at[d]) * large[d + 1];
    std::memcpy(out + static_cast<size_t>(target) * size,
                DataOf(from) + static_cast<size_t>(line * small[last]) * size,
                static_cast<size_t>(small[last]) * size);
    for (size_t d = last; d-- > 0;) {
      if (++at[d] < small[d]) break;
      at[d] = 0;
    }
  }
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

bool Agree(const Job& a, const Job& b, bool any_lengths) {
  if (a.servable != b.servable || a.runnable != b.runnable || a.outputs != b.outputs ||
      a.inputs.size() != b.inputs.size()) {
    return false;
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const auto& [name, tensor] = a.inputs[i];
    if (name != b.inputs[i].first ||
        !Fit(tensor, b.inputs[i].second, *a.runnable->Input(name), any_lengths)) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> Join(
    const std::vector<std::unique_ptr<Job>>& jobs, int64_t rows) {
  std::vector<std::pair<std::string, Tensor>> joined;
  for (size_t i = 0; i < jobs.front()->inputs.size(); ++i) {
    const auto& [name, first] = jobs.front()->inputs[i];
    std::vector<int64_t> dims = first.dims();
    for (const auto& job : jobs) {
      const std::vector<int64_t> own = job->inputs[i].second.dims();
      for (size_t d = 1; d < dims.size(); ++d) dims[d] = std::max(dims[d], own[d]);
    }
    dims[0] = rows;
    Tensor all = Tensor::Create(first.dtype(), dims);
    const auto copy = [&](const Tensor& from, int64_t row) {
      const std::vector<int64_t> own = from.dims();
      if (std::equal(own.begin() + 1, own.end(), dims.begin() + 1)) {
        CopyRows(from, row, all);
        return true;
      }
      if (from.num_elements() == 0 || from.dtype() == TENON_STRING) return false;
      CopyPadded(from, row, all);
      return true;
    };
    int64_t row = 0;
    bool complete = true;
    for (const auto& job : jobs) {
      complete = complete && copy(job->inputs[i].second, row);
      row += job->rows;
    }
    if (complete && row < rows) {
      const Job& last = *jobs.back();
      const Tensor repeated = Rows(last.inputs[i].second, last.rows - 1, 1);
      for (; row < rows; ++row) complete = complete && copy(repeated, row);
    }
    if (!complete) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", name, " cannot be padded: it is empty, or of strings"));
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
