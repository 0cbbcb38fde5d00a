// Samples from an .npz, cut into batches along the first axis.
#ifndef TENON_RUNTIME_QUANTIZE_SAMPLES_H_
#define TENON_RUNTIME_QUANTIZE_SAMPLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/session/session.h"

namespace tenon {

class Samples {
 public:
  // Keeps the arrays that are inputs of the model and ignores others. Of an input that is a scalar,
  // the data have the value for all batches. `batch` 0 means the batch
  // size that the model's inputs fix, or 8. InvalidArgument if an input is missing, the arrays have
  // different numbers of samples or none, or the batch size differs from the model's.
  static absl::StatusOr<Samples> Create(std::vector<NamedTensor> arrays,
                                        const std::vector<TensorInfo>& inputs, int64_t batch);

  int64_t num_batches() const { return (used_ + batch_ - 1) / batch_; }
  int64_t batch_size() const { return batch_; }
  int64_t used() const { return used_; }    // samples in all batches
  int64_t total() const { return total_; }  // samples that do not fill a fixed batch are left out

  // Views of the arrays.
  std::vector<NamedTensor> Batch(int64_t i) const;

 private:
  std::vector<NamedTensor> arrays_;  // by sample
  std::vector<NamedTensor> scalars_;
  int64_t batch_ = 1;
  int64_t total_ = 0;
  int64_t used_ = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_SAMPLES_H_
