#include "kernels/strings/summary.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "env/containers.h"
#include "env/status.h"
#include "kernels/example_proto/wire.h"
#include "kernels/interface/types.h"
#include "kernels/strings/tensor_message.h"

namespace tenon {
namespace {

// Numbers of the fields of Summary, Summary.Value and HistogramProto.
constexpr uint32_t kValueField = 1, kTagField = 1, kSimpleField = 2, kHistogramField = 5,
                   kTensorField = 8, kMetadataField = 9, kLimitsField = 6, kCountsField = 7;

// A field of 4 or 8 bytes.
template <typename T>
void AppendFixedField(uint32_t field, T value, std::string& out) {
  AppendTag(field, sizeof(T) == 4 ? WireType::kFixed32 : WireType::kFixed64, out);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// The beginning of a Summary.Value.
std::string Tagged(const std::string& tag) {
  std::string value;
  if (!tag.empty()) AppendBytesField(kTagField, tag, value);
  return value;
}

// All values, as floats or doubles.
template <typename To>
std::vector<To> NumbersAs(DType dtype, const void* data, int64_t n) {
  std::vector<To> numbers(static_cast<size_t>(n));
  VisitTypes(RealNumbers{}, dtype, [&]<typename T>() {
    const T* const from = static_cast<const T*>(data);
    for (int64_t i = 0; i < n; ++i) {
      numbers[static_cast<size_t>(i)] = static_cast<To>(ToCompute(from[i]));
    }
  });
  return numbers;
}

// The ends of the buckets: powers of 1.1 from 1e-12 to 1e20 with both signs, 0, and the largest
// numbers.
std::vector<double> BucketLimits() {
  std::vector<double> limits;
  for (double v = 1e-12; v < 1e20; v *= 1.1) limits.push_back(v);
  limits.push_back(std::numeric_limits<double>::max());
  std::vector<double> all;
  for (auto v = limits.rbegin(); v != limits.rend(); ++v) all.push_back(-*v);
  all.push_back(0);
  all.insert(all.end(), limits.begin(), limits.end());
  return all;
}

// Fields that are zero are left out.
void AppendNumberField(uint32_t field, double value, std::string& out) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (bits != 0) AppendFixedField(field, value, out);
}

absl::string_view BytesOf(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

// A HistogramProto; of several empty buckets in a row, one.
absl::StatusOr<std::string> Histogram(const std::vector<double>& values) {
  static const std::vector<double>* const limits = new std::vector<double>(BucketLimits());
  std::vector<double> counts(limits->size());
  double least = limits->back(), most = -limits->back(), sum = 0, squares = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) return InvalidArgument("a histogram of numbers that are not finite");
    const auto bucket = std::upper_bound(limits->begin(), limits->end() - 1, v);
    ++counts[static_cast<size_t>(bucket - limits->begin())];
    least = std::min(least, v);
    most = std::max(most, v);
    sum += v;
    squares += v * v;
  }
  std::string histogram;
  const double numbers[] = {least, most, static_cast<double>(values.size()), sum, squares};
  for (uint32_t i = 0; i < std::size(numbers); ++i) AppendNumberField(i + 1, numbers[i], histogram);
  std::vector<double> ends, kept;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i > 0 && counts[i] == 0 && kept.back() == 0) {
      ends.back() = (*limits)[i];
      continue;
    }
    ends.push_back((*limits)[i]);
    kept.push_back(counts[i]);
  }
  AppendBytesField(kLimitsField, BytesOf(ends), histogram);
  AppendBytesField(kCountsField, BytesOf(kept), histogram);
  return histogram;
}

// The tag of a Summary.Value; false if the bytes are no message.
bool TagOf(absl::string_view value, std::string& tag) {
  WireReader reader(value);
  WireField f;
  while (reader.Next(f)) {
    if (f.number == kTagField && f.is_bytes()) tag = std::string(f.bytes);
  }
  return reader.ok();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ScalarSummaryKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([dtype = p.input_dtype(1), n](RunContext& run) {
    const std::vector<float> values = NumbersAs<float>(dtype, run.input(1), n);
    std::string summary;
    for (int64_t i = 0; i < n; ++i) {
      std::string value = Tagged(run.input<std::string>(0)[i]);
      AppendFixedField(kSimpleField, values[static_cast<size_t>(i)], value);
      AppendBytesField(kValueField, value, summary);
    }
    *run.output<std::string>(0) = std::move(summary);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> HistogramSummaryKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(1).num_elements();
  return MakeKernel([dtype = p.input_dtype(1), n](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::string histogram,
                           Histogram(NumbersAs<double>(dtype, run.input(1), n)));
    std::string value = Tagged(*run.input<std::string>(0)), summary;
    AppendBytesField(kHistogramField, histogram, value);
    AppendBytesField(kValueField, value, summary);
    *run.output<std::string>(0) = std::move(summary);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> TensorSummaryKernel(PrepareContext& p) {
  return MakeKernel([dtype = p.input_dtype(1), shape = p.input_shape(1)](RunContext& run) {
    std::string value = Tagged(*run.input<std::string>(0)), summary;
    AppendBytesField(kTensorField, SerializeTensorMessage(dtype, shape, run.input(1)), value);
    AppendBytesField(kMetadataField, *run.input<std::string>(2), value);
    AppendBytesField(kValueField, value, summary);
    *run.output<std::string>(0) = std::move(summary);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MergeSummaryKernel(PrepareContext& p) {
  std::vector<int64_t> counts;
  for (int i = 0; i < p.num_inputs(); ++i) counts.push_back(p.input_shape(i).num_elements());
  return MakeKernel([counts = std::move(counts)](RunContext& run) -> absl::Status {
    std::string merged;
    HashSet<std::string> tags;
    for (size_t i = 0; i < counts.size(); ++i) {
      for (int64_t k = 0; k < counts[i]; ++k) {
        WireReader reader(run.input<std::string>(static_cast<int>(i))[k]);
        WireField f;
        while (reader.Next(f)) {
          if (f.number != kValueField || !f.is_bytes()) continue;
          std::string tag;
          if (!TagOf(f.bytes, tag)) return InvalidArgument("input ", i, " is no summary");
          if (!tag.empty() && !tags.insert(tag).second) {
            return InvalidArgument("two summaries have the tag ", tag);
          }
          AppendBytesField(kValueField, f.bytes, merged);
        }
        if (!reader.ok()) return InvalidArgument("input ", i, " is no summary");
      }
    }
    *run.output<std::string>(0) = std::move(merged);
    return absl::OkStatus();
  });
}

}  // namespace tenon
