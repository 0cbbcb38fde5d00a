// What oneDNN 2 and oneDNN 3 say differently, as one set of functions. CMake compiles v2/ or v3/,
// for the library that it finds; the rest of primitive_cache/ is written once. All functions may
// throw dnnl::error.
#ifndef TENON_PRIMITIVE_CACHE_ONEDNN_ONEDNN_H_
#define TENON_PRIMITIVE_CACHE_ONEDNN_ONEDNN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace tenon::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

const dnnl::engine& CpuEngine();

int MajorVersion();

// Whether the CPU has these instructions and oneDNN may use them.
bool Allows(dnnl::cpu_isa isa);

// --- Primitive descriptors. Each function returns the first implementation that is accepted, or an
// empty descriptor if there is none. Do not call `next_impl` on it: in oneDNN 2, that reads the
// operation's description, which is gone. A bias that is an empty Desc means none.

// Decides by its name, such as "brgconv:avx512_core", whether an implementation may be used.
using Accept = absl::FunctionRef<bool(absl::string_view name)>;
inline bool AcceptAll(absl::string_view) { return true; }

struct ConvolutionDescs {
  Desc src, weights, bias, dst;
  Dims strides;
  Dims gaps;  // elements skipped between two of the filter: 0 for a dense one
  Dims pads_begin, pads_end;
};
dnnl::convolution_forward::primitive_desc Convolution(dnnl::prop_kind kind,
                                                      dnnl::algorithm algorithm,
                                                      const ConvolutionDescs& c,
                                                      const dnnl::primitive_attr& attr,
                                                      Accept accept);
// Direct convolution's gradients; `forward` is a descriptor of the same convolution.
dnnl::convolution_backward_data::primitive_desc SourceGradient(
    const ConvolutionDescs& c, const dnnl::primitive_attr& attr,
    const dnnl::convolution_forward::primitive_desc& forward, Accept accept);
dnnl::convolution_backward_weights::primitive_desc WeightsGradient(
    const ConvolutionDescs& c, const dnnl::primitive_attr& attr,
    const dnnl::convolution_forward::primitive_desc& forward, Accept accept);

dnnl::matmul::primitive_desc Matmul(const Desc& src, const Desc& weights, const Desc& bias,
                                    const Desc& dst, const dnnl::primitive_attr& attr,
                                    Accept accept);

struct PoolingDescs {
  Desc src, dst;
  Dims strides, window, pads_begin, pads_end;
};
dnnl::pooling_forward::primitive_desc Pooling(dnnl::algorithm algorithm, const PoolingDescs& p,
                                              const dnnl::primitive_attr& attr, Accept accept);

// --- Attributes

// Appends result = scale * f(result). May append more than one post-op.
void AppendEltwise(dnnl::post_ops& ops, dnnl::algorithm f, float scale, float alpha, float beta);
// Appends result += scale * what the destination held, read as `type` (undef: its own).
void AppendSum(dnnl::post_ops& ops, float scale, dnnl::memory::data_type type);

// A convolution of integers: result = scales * sums of (src - src_zero) * weights, then the
// post-ops, then + dst_zero.
struct Quantization {
  std::vector<float> scales;  // none, one, or one per output channel
  bool grouped = false;       // whether the weights have a dimension for groups
  int32_t src_zero = 0, dst_zero = 0;
};
// Constant values that each execution passes, beside the arguments of the problem.
struct ConstantArgument {
  int id;  // DNNL_ARG_...
  dnnl::memory value;
};
std::vector<ConstantArgument> SetQuantization(const Quantization& q, dnnl::primitive_attr& attr);
// Whether the scales multiply the sums with the bias; otherwise the bias is added to the product.
bool ScalesMultiplyBias();

// --- Memory descriptors

int Rank(const Desc& desc);

// A layout in blocks, as oneDNN describes it: strides of the outer blocks, then dense inner blocks.
struct Blocks {
  dnnl::memory::data_type type;
  Dims dims, padded_dims, strides;
  Dims sizes, axes;  // of the inner blocks: sizes[i] elements along the axis axes[i]
  bool whole;        // it begins at the memory's first element, without padding in front
};
// None if the memory has another format, or holds more than the elements (sums of the weights
// follow those of integer convolutions).
std::optional<Blocks> BlocksOf(const Desc& desc);

// A text for each layout. Layouts with the same one differ, if at all, in what follows the
// elements.
std::string TextOf(const Desc& desc);

// The descriptor as bytes, for the same library in another process. All have the same number.
size_t BytesPerDesc();
std::string BytesOf(const Desc& desc);
// None if BytesOf cannot have given these bytes.
std::optional<Desc> DescFromBytes(absl::string_view bytes);

}  // namespace tenon::onednn

#endif  // TENON_PRIMITIVE_CACHE_ONEDNN_ONEDNN_H_
