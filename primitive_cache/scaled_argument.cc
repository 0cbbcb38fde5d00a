// A primitive that multiplies one of its arguments by constant factors before it runs.
#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

class ScaledArgument final : public Primitive {
 public:
  ScaledArgument(std::shared_ptr<const Primitive> inner, size_t index, size_t size,
                 std::vector<float> factors)
      : inner_(std::move(inner)),
        index_(index),
        size_(size),
        factors_(std::move(factors)),
        inner_scratch_(RoundUp(inner_->scratch_bytes(), kCacheLine)) {}

  absl::Status Execute(absl::Span<void* const> arguments, void* scratch) const override {
    if (index_ >= arguments.size()) return Internal("a scaled argument is missing");
    float* const scaled = reinterpret_cast<float*>(static_cast<char*>(scratch) + inner_scratch_);
    const float* const given = static_cast<const float*>(arguments[index_]);
    const bool common = factors_.size() == 1;
    for (size_t i = 0; i < size_; ++i) scaled[i] = given[i] * factors_[common ? 0 : i];
    absl::InlinedVector<void*, 8> pointers(arguments.begin(), arguments.end());
    pointers[index_] = scaled;
    return inner_->Execute(pointers, scratch);
  }

  size_t scratch_bytes() const override { return inner_scratch_ + size_ * sizeof(float); }
  const std::string& implementation() const override { return inner_->implementation(); }
  std::shared_ptr<const PackedLayout> weights_layout() const override {
    return inner_->weights_layout();
  }
  size_t bytes() const override { return inner_->bytes() + factors_.size() * sizeof(float); }

 private:
  const std::shared_ptr<const Primitive> inner_;
  const size_t index_, size_;
  const std::vector<float> factors_;
  const size_t inner_scratch_;
};

}  // namespace

std::shared_ptr<const Primitive> WrapWithScaledArgument(std::shared_ptr<const Primitive> inner,
                                                        size_t index, size_t size,
                                                        std::vector<float> factors) {
  return std::make_shared<ScaledArgument>(std::move(inner), index, size, std::move(factors));
}

}  // namespace tenon
