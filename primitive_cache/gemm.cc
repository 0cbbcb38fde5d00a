#include "primitive_cache/gemm.h"

#include <optional>
#include <string>

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

constexpr int64_t kFewRows = 256;
constexpr int64_t kLargeWeights = int64_t{1} << 17;

// A matrix in memory: rows `ld` elements apart, or columns if it is transposed.
struct Matrix {
  char transposed = 'N';
  int64_t ld = 0;
};
std::optional<Matrix> MatrixOf(const TensorDesc& d) {
  if (d.strides[1] == 1 && d.strides[0] >= d.dims[1]) return Matrix{'N', d.strides[0]};
  if (d.strides[0] == 1 && d.strides[1] >= d.dims[0]) return Matrix{'T', d.strides[1]};
  return std::nullopt;
}

class Gemm final : public Primitive {
 public:
  Gemm(const MatmulProblem& p, Matrix src, Matrix weights, Matrix dst)
      : m_(p.src.dims[0]),
        k_(p.src.dims[1]),
        n_(p.dst.dims[1]),
        src_(src),
        weights_(weights),
        dst_(dst),
        threads_(p.threads) {}

  absl::Status Execute(absl::Span<void* const> arguments, void*) const override {
    if (arguments.size() != 3) return Internal("gemm takes 3 arguments, got ", arguments.size());
    const ThreadScope threads(threads_);
    const dnnl_status_t status = dnnl_sgemm(src_.transposed, weights_.transposed, m_, n_, k_, 1.0f,
                                            static_cast<const float*>(arguments[0]), src_.ld,
                                            static_cast<const float*>(arguments[1]), weights_.ld,
                                            0.0f, static_cast<float*>(arguments[2]), dst_.ld);
    if (status == dnnl_success) return absl::OkStatus();
    if (status == dnnl_out_of_memory) return absl::ResourceExhaustedError("no memory for gemm");
    return Internal("oneDNN: gemm failed with status ", static_cast<int>(status));
  }
  size_t scratch_bytes() const override { return 0; }
  const std::string& implementation() const override { return implementation_; }
  std::shared_ptr<const PackedLayout> weights_layout() const override { return nullptr; }
  size_t bytes() const override { return sizeof(*this); }

 private:
  const int64_t m_, k_, n_;
  const Matrix src_, weights_, dst_;
  const int threads_;
  const std::string implementation_ = "sgemm";
};

}  // namespace

std::shared_ptr<const Primitive> GemmFor(const MatmulProblem& p) {
  if (p.pack_weights || p.has_bias || !p.post_ops.empty() || p.src.dims.size() != 2) return nullptr;
  for (const TensorDesc* d : {&p.src, &p.weights, &p.dst}) {
    if (d->type != ElementType::kF32) return nullptr;
  }
  const auto src = MatrixOf(p.src), weights = MatrixOf(p.weights), dst = MatrixOf(p.dst);
  if (!src || !weights || !dst || dst->transposed != 'N') return nullptr;
  const int64_t rows = p.src.dims[0], elements = p.weights.num_elements();
  const bool worth = rows <= kFewRows && elements >= kLargeWeights && weights->transposed == 'N';
  if (!worth) return nullptr;
  return std::make_shared<Gemm>(p, *src, *weights, *dst);
}

}  // namespace tenon
