// Private to this folder: conversions from our types to oneDNN's, exceptions turned into statuses,
// and the Primitive that wraps any oneDNN primitive.
#ifndef TENON_PRIMITIVE_CACHE_DNNL_PRIMITIVE_H_
#define TENON_PRIMITIVE_CACHE_DNNL_PRIMITIVE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "env/status.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

const dnnl::engine& CpuEngine();

absl::Status ErrorFrom(const dnnl::error& e);

// Calls `f`, which returns an absl::StatusOr or absl::Status, and turns oneDNN's exceptions into
// statuses (Unimplemented if it has no implementation).
template <typename F>
auto Guarded(F f) -> decltype(f()) {
  try {
    return f();
  } catch (const dnnl::error& e) {
    return ErrorFrom(e);
  } catch (const std::exception& e) {
    return Internal("oneDNN: ", e.what());
  }
}

dnnl::memory::data_type ToDnnl(ElementType type);
dnnl::memory::dims ToDnnl(const Dims& dims);
dnnl::memory::desc ToDnnl(const TensorDesc& desc);
// A description that leaves the layout to the implementation.
dnnl::memory::desc AnyLayout(const TensorDesc& desc);
dnnl::primitive_attr Attributes(absl::Span<const PostOpSpec> post_ops);

// Sets OpenMP's thread count for this thread and restores it at the end; oneDNN plans and runs with
// that count.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_ = 0;
};

// Decides by its name whether an implementation may be used.
using AcceptImplementation = absl::FunctionRef<bool(absl::string_view name)>;
inline bool AcceptAll(absl::string_view) { return true; }

// The first implementation that is compiled code (oneDNN's plain loops are named "ref...") and that
// `accept` approves. Gradients pass the description of their forward primitive as `hint`.
template <typename Pd, typename Desc, typename... Hint>
absl::StatusOr<Pd> CompiledImplementation(const Desc& desc, const dnnl::primitive_attr& attr,
                                          AcceptImplementation accept, const Hint&... hint) {
  Pd pd(desc, attr, CpuEngine(), hint..., /*allow_empty=*/true);
  if (!pd) return Unimplemented("oneDNN has no implementation");
  for (std::string name = pd.impl_info_str(); absl::StartsWith(name, "ref") || !accept(name);
       name = pd.impl_info_str()) {
    if (!pd.next_impl()) return Unimplemented("oneDNN has no sound compiled implementation");
  }
  return pd;
}

struct PrimitiveArgument {
  int id;  // DNNL_ARG_...
  dnnl::memory::desc desc;
};

struct PrimitiveParts {
  dnnl::primitive primitive;
  std::vector<PrimitiveArgument> arguments;  // in the order of Execute
  dnnl::memory::desc scratchpad;
  std::string implementation;
  std::shared_ptr<const PackedLayout> weights_layout;
  int threads = 1;
  bool clear_scratch = false;  // before each execution (known_defects.h)
};
std::shared_ptr<const Primitive> WrapPrimitive(PrimitiveParts parts);

// A reorder primitive. Arguments: from, to. May throw.
std::shared_ptr<const Primitive> MakeReorder(const dnnl::memory::desc& from,
                                             const dnnl::memory::desc& to, int threads);

// An argument that the caller holds in a different layout than the primitive's.
struct PlainArgument {
  size_t index;
  TensorDesc plain;
  enum class Use { kRead, kWritten, kUpdated } use;  // kUpdated: read and written
};
// Wraps the primitive so that it takes those arguments in the caller's layouts; they are reordered
// through scratch if the layouts differ.
absl::StatusOr<std::shared_ptr<const Primitive>> WrapWithPlainArguments(
    PrimitiveParts parts, absl::Span<const PlainArgument> plain);

// Appends the arguments of binary post-ops, in order.
void AppendPostOpArguments(absl::Span<const PostOpSpec> post_ops,
                           std::vector<PrimitiveArgument>& arguments);

// The packing from `plain` to `packed`; null if they are the same layout.
std::shared_ptr<const PackedLayout> LayoutFor(const TensorDesc& plain,
                                              const dnnl::memory::desc& packed, int threads);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_DNNL_PRIMITIVE_H_
