// A primitive that reorders some of its arguments on the way in and out.
#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

struct Reordered {
  size_t index;
  std::shared_ptr<const Primitive> in, out;  // arguments: from, to; null where not needed
  size_t offset;                             // of the primitive's own form, in the scratch
};

class ReorderedPrimitive final : public Primitive {
 public:
  ReorderedPrimitive(std::shared_ptr<const Primitive> inner, std::vector<Reordered> reordered,
                     size_t inner_scratch, size_t scratch)
      : inner_(std::move(inner)),
        reordered_(std::move(reordered)),
        inner_scratch_(inner_scratch),
        scratch_(scratch) {}

  absl::Status Execute(absl::Span<void* const> arguments, void* scratch) const override {
    char* const base = static_cast<char*>(scratch);
    absl::InlinedVector<void*, 8> pointers(arguments.begin(), arguments.end());
    for (const Reordered& r : reordered_) {
      if (r.index >= pointers.size()) return Internal("a reordered argument is missing");
      void* const own = base + inner_scratch_ + r.offset;
      if (r.in != nullptr) TENON_RETURN_IF_ERROR(r.in->Execute({arguments[r.index], own}, base));
      pointers[r.index] = own;
    }
    TENON_RETURN_IF_ERROR(inner_->Execute(pointers, base));
    for (const Reordered& r : reordered_) {
      if (r.out == nullptr) continue;
      TENON_RETURN_IF_ERROR(r.out->Execute({pointers[r.index], arguments[r.index]}, base));
    }
    return absl::OkStatus();
  }

  size_t scratch_bytes() const override { return scratch_; }
  const std::string& implementation() const override { return inner_->implementation(); }
  std::shared_ptr<const PackedLayout> weights_layout() const override {
    return inner_->weights_layout();
  }
  size_t bytes() const override {
    size_t n = inner_->bytes();
    for (const Reordered& r : reordered_) {
      for (const auto& reorder : {r.in, r.out}) n += reorder == nullptr ? 0 : reorder->bytes();
    }
    return n;
  }

 private:
  const std::shared_ptr<const Primitive> inner_;
  const std::vector<Reordered> reordered_;
  const size_t inner_scratch_;  // used by the primitive itself and by the reorders, in turn
  const size_t scratch_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Primitive>> WrapWithPlainArguments(
    PrimitiveParts parts, absl::Span<const PlainArgument> plain) {
  std::vector<Reordered> reordered;
  size_t inner_scratch = parts.scratchpad.get_size(), buffers = 0;
  for (const PlainArgument& p : plain) {
    const dnnl::memory::desc own = parts.arguments[p.index].desc, callers = ToDnnl(p.plain);
    if (own == callers) continue;
    Reordered r{p.index, nullptr, nullptr, buffers};
    if (p.use != PlainArgument::Use::kWritten) r.in = MakeReorder(callers, own, parts.threads);
    if (p.use != PlainArgument::Use::kRead) r.out = MakeReorder(own, callers, parts.threads);
    for (const auto& reorder : {r.in, r.out}) {
      if (reorder != nullptr) inner_scratch = std::max(inner_scratch, reorder->scratch_bytes());
    }
    reordered.push_back(std::move(r));
    buffers += RoundUp(own.get_size(), kCacheLine);
  }
  std::shared_ptr<const Primitive> inner = WrapPrimitive(std::move(parts));
  if (reordered.empty()) return inner;
  inner_scratch = RoundUp(inner_scratch, kCacheLine);
  return std::make_shared<ReorderedPrimitive>(std::move(inner), std::move(reordered), inner_scratch,
                                              inner_scratch + buffers);
}

}  // namespace tenon
