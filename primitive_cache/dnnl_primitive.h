// Private to this folder: conversions from our types to oneDNN's, exceptions turned into statuses,
// and the Primitive that wraps any oneDNN primitive.
#ifndef TENON_PRIMITIVE_CACHE_DNNL_PRIMITIVE_H_
#define TENON_PRIMITIVE_CACHE_DNNL_PRIMITIVE_H_

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "env/exceptions.h"
#include "env/status.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "primitive_cache/onednn/onednn.h"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

using onednn::CpuEngine;

absl::Status ErrorFrom(const dnnl::error& e);

// oneDNN's own cache keeps a primitive whose construction ran out of memory as one that never
// comes: it has to be emptied.
void ClearLibraryCache() noexcept;

// Calls `f`, which returns an absl::StatusOr or absl::Status, and turns oneDNN's exceptions into
// statuses (Unimplemented if it has no implementation).
template <typename F>
auto Guarded(F f) -> decltype(f()) {
  try {
    return f();
  } catch (const dnnl::error& e) {
    return ErrorFrom(e);
  } catch (const std::bad_alloc&) {
    ClearLibraryCache();
    return OutOfMemory();
  } catch (const std::exception& e) {
    return Internal("oneDNN: ", e.what());
  }
}

dnnl::memory::data_type ToDnnl(ElementType type);
dnnl::memory::dims ToDnnl(const Dims& dims);
dnnl::memory::desc ToDnnl(const TensorDesc& desc);
// A description that leaves the layout to the implementation.
dnnl::memory::desc AnyLayout(const TensorDesc& desc);
struct ConvolutionProblem;
// The convolution without its bias, with tensors in these layouts.
onednn::ConvolutionDescs DescribeConvolution(const ConvolutionProblem& p,
                                             const dnnl::memory::desc& src,
                                             const dnnl::memory::desc& weights,
                                             const dnnl::memory::desc& dst);

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

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// Whether an implementation is compiled code. oneDNN's plain loops are named "ref:any", or
// "ip:any+ref:any" within another one.
inline bool IsCompiled(absl::string_view name) {
  return !absl::StartsWith(name, "ref") && !absl::StrContains(name, "+ref");
}
// Whether an implementation calls oneDNN's gemm: "gemm:jit", in oneDNN 3 "x64:gemm:jit"; not
// "brgemm:avx512_core".
inline bool UsesGemm(absl::string_view name) {
  return absl::StartsWith(name, "gemm") || absl::StrContains(name, ":gemm");
}

// Unimplemented if the primitive descriptor is empty.
template <typename Pd>
absl::StatusOr<Pd> Found(Pd pd) {
  if (!pd) return Unimplemented("oneDNN has no sound compiled implementation");
  return pd;
}

struct PrimitiveArgument {
  int id;  // DNNL_ARG_...
  dnnl::memory::desc desc;
};

struct PrimitiveParts {
  dnnl::primitive primitive;
  std::vector<PrimitiveArgument> arguments;  // in the order of Execute
  std::vector<onednn::ConstantArgument> constants;
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

// Wraps a primitive so that it multiplies the argument `index`, a vector of `size` floats, by
// `factors` (one, or one for each element) before it runs.
std::shared_ptr<const Primitive> WrapWithScaledArgument(std::shared_ptr<const Primitive> inner,
                                                        size_t index, size_t size,
                                                        std::vector<float> factors);

struct PostOps {
  dnnl::primitive_attr attr;                 // with scratch memory from the caller
  std::vector<PrimitiveArgument> arguments;  // the operands of binary post-ops, in order
};
PostOps MakePostOps(absl::Span<const PostOpSpec> specs);

// The packing from `plain` to `packed`; null if they are the same layout. `sums` tells apart what
// else than the elements packed memory may hold.
std::shared_ptr<const PackedLayout> LayoutFor(const TensorDesc& plain,
                                              const dnnl::memory::desc& packed, int threads,
                                              absl::string_view sums = "");

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_DNNL_PRIMITIVE_H_
