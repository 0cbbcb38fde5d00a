#include "proto/import/table_text.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "env/mapped_file.h"
#include "env/status.h"

namespace tenon {
namespace {

// One column of a table during reading.
class Column {
 public:
  Column(DType dtype, int64_t index) : dtype_(dtype), index_(index) {}

  absl::Status Add(absl::string_view line, int64_t number, char delimiter) {
    if (index_ == TableText::kLineNumber) {
      if (dtype_ != DType::kInt64) return InvalidArgument("line numbers are int64");
      integers_.push_back(number);
      return absl::OkStatus();
    }
    absl::string_view field = line;
    if (index_ >= 0) {
      const std::vector<absl::string_view> fields = absl::StrSplit(line, delimiter);
      if (static_cast<size_t>(index_) >= fields.size()) {
        return InvalidArgument("has ", fields.size(), " fields, but needs field ", index_);
      }
      field = fields[static_cast<size_t>(index_)];
    }
    return Parse(field);
  }

  absl::StatusOr<Tensor> Take() {
    switch (dtype_) {
      case DType::kString:
        return Filled<std::string>(strings_);
      case DType::kInt32:
        return Filled<int32_t>(integers_);
      case DType::kInt64:
        return Filled<int64_t>(integers_);
      case DType::kFloat:
        return Filled<float>(reals_);
      default:
        return Filled<double>(reals_);
    }
  }

 private:
  template <typename T, typename V>
  static absl::StatusOr<Tensor> Filled(std::vector<V>& values) {
    TENON_ASSIGN_OR_RETURN(
        Tensor t,
        Tensor::Allocate(DTypeTraits<T>::value, Shape({static_cast<int64_t>(values.size())})));
    std::transform(values.begin(), values.end(), t.data<T>(),
                   [](V& v) { return static_cast<T>(std::move(v)); });
    return t;
  }

  absl::Status Parse(absl::string_view field) {
    int64_t integer = 0;
    double real = 0;
    switch (dtype_) {
      case DType::kString:
        strings_.emplace_back(field);
        return absl::OkStatus();
      case DType::kInt32:
      case DType::kInt64:
        if (!absl::SimpleAtoi(field, &integer) ||
            (dtype_ == DType::kInt32 && integer != static_cast<int32_t>(integer))) {
          return InvalidArgument("'", field, "' is not ", Name(dtype_));
        }
        integers_.push_back(integer);
        return absl::OkStatus();
      case DType::kFloat:
      case DType::kDouble:
        if (!absl::SimpleAtod(field, &real))
          return InvalidArgument("'", field, "' is not a number");
        reals_.push_back(real);
        return absl::OkStatus();
      default:
        return Unimplemented("a column of ", Name(dtype_));
    }
  }

  const DType dtype_;
  const int64_t index_;
  std::vector<std::string> strings_;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
};

}  // namespace

absl::StatusOr<std::pair<Tensor, Tensor>> ReadTableText(const TableText& text, DType keys,
                                                        DType values) {
  if (text.key_index < TableText::kWholeLine || text.value_index < TableText::kWholeLine) {
    return InvalidArgument("a field's index must be -2 or more");
  }
  // Not a stream: streams end early if memory is refused.
  const absl::StatusOr<std::shared_ptr<const MappedFile>> file =
      MappedFile::Open(text.path, FilePages::kCopied);
  if (absl::IsResourceExhausted(file.status())) return file.status();
  if (!file.ok()) return NotFound(text.path, ": cannot be read");
  absl::string_view rest((*file)->data(), (*file)->size());
  Column key_column(keys, text.key_index), value_column(values, text.value_index);
  int64_t number = 0;
  for (int64_t at = 0; !rest.empty(); ++at) {
    const absl::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (at < text.offset) continue;
    if (text.vocab_size >= 0 && number == text.vocab_size) break;
    for (Column* column : {&key_column, &value_column}) {
      if (absl::Status s = column->Add(line, number, text.delimiter); !s.ok()) {
        return Annotate(s, absl::StrCat(text.path, ":", at + 1));
      }
    }
    ++number;
  }
  if (text.vocab_size > number) {
    return InvalidArgument(text.path, ": has ", number, " lines, but ", text.vocab_size,
                           " are wanted");
  }
  TENON_ASSIGN_OR_RETURN(Tensor key_tensor, key_column.Take());
  TENON_ASSIGN_OR_RETURN(Tensor value_tensor, value_column.Take());
  return std::make_pair(std::move(key_tensor), std::move(value_tensor));
}

}  // namespace tenon
