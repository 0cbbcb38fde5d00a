#include "kernels/sparse/csr_math.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/sparse/csr_matrix.h"

namespace tenon {
namespace {

using CsrTypes = Joined<TypeList<float, double>, Complexes>;
using CsrPtr = std::shared_ptr<const CsrMatrix>;

enum class Form { kPlain, kTransposed, kAdjoint };

Form FormOf(const AttrReader& attrs, const char* transposed, const char* adjoint) {
  if (attrs.Bool(transposed, false)) return Form::kTransposed;
  return attrs.Bool(adjoint, false) ? Form::kAdjoint : Form::kPlain;
}

// The matrix of input i, in that form.
absl::StatusOr<CsrPtr> Operand(const RunContext& run, int i, DType dtype, Form form) {
  const ObjectPtr& handle = *run.input<ObjectPtr>(i);
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(&handle, dtype));
  if (form == Form::kPlain) return CsrPtr(handle, m);
  return Transposed(*m, form == Form::kAdjoint ? Conjugate::kYes : Conjugate::kNo);
}

absl::Status ExpectSameShape(const CsrMatrix& a, const CsrMatrix& b) {
  if (a.shape == b.shape) return absl::OkStatus();
  return InvalidArgument("sparse matrices of shapes ", a.shape.ToString(), " and ",
                         b.shape.ToString());
}

// A matrix made row by row. Elements of a row may be added in any order; those of one column are
// summed.
template <typename T>
class RowBuilder {
 public:
  void Add(int32_t column, T v) { row_.emplace_back(column, v); }
  void EndRow() {
    std::stable_sort(row_.begin(), row_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, v] : row_) {
      if (static_cast<int64_t>(columns_.size()) > ends_.back() && columns_.back() == column) {
        values_.back() += v;
      } else {
        columns_.push_back(column);
        values_.push_back(v);
      }
    }
    row_.clear();
    ends_.push_back(static_cast<int64_t>(columns_.size()));
  }
  absl::StatusOr<std::shared_ptr<CsrMatrix>> Finish(const Shape& shape) const {
    TENON_ASSIGN_OR_RETURN(auto m, CsrMatrix::Make(DTypeTraits<T>::value, shape, ends_.back()));
    std::copy(ends_.begin(), ends_.end(), m->starts.template data<int64_t>());
    std::copy(columns_.begin(), columns_.end(), m->columns.template data<int32_t>());
    std::copy(values_.begin(), values_.end(), m->values.template data<T>());
    return m;
  }

 private:
  std::vector<std::pair<int32_t, T>> row_;
  std::vector<int64_t> ends_ = {0};
  std::vector<int32_t> columns_;
  std::vector<T> values_;
};

// The same elements with other values, which `fill(begin, end, out)` computes for each row.
template <typename T, typename F>
absl::StatusOr<ObjectPtr> MapRows(const CsrMatrix& m, F fill) {
  auto out = std::make_shared<CsrMatrix>(m);
  TENON_ASSIGN_OR_RETURN(out->values, Tensor::Allocate(m.dtype, m.values.shape()));
  for (int64_t row = 0; row < m.all_rows(); ++row) {
    fill(row, m.start(row), m.start(row + 1), out->values.template data<T>());
  }
  return ObjectPtr(std::move(out));
}

// A dense operand or result: matrices in a batch, by strides.
struct DenseMatrices {
  int64_t rows, columns, row_stride, column_stride;

  static DenseMatrices Of(const Shape& shape, bool transposed) {
    const int64_t rows = shape.dim(shape.rank() - 2), columns = shape.dim(shape.rank() - 1);
    if (transposed) return {columns, rows, 1, columns};
    return {rows, columns, columns, 1};
  }
  int64_t At(int64_t batch, int64_t row, int64_t column) const {
    return batch * rows * columns + row * row_stride + column * column_stride;
  }
};

}  // namespace

absl::Status CheckTransposes(const AttrReader& attrs) {
  for (const auto& [transposed, adjoint] :
       {std::pair("transpose_a", "adjoint_a"), std::pair("transpose_b", "adjoint_b")}) {
    if (attrs.Bool(transposed, false) && attrs.Bool(adjoint, false)) {
      return InvalidArgument("only one of ", transposed, " and ", adjoint, " may be set");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrTimesDenseKernel(PrepareContext& p) {
  const Shape dense = p.input_shape(1), planned = p.output_shape(0);
  const DType dtype = p.input_dtype(1);
  const Form a_form = FormOf(p.attrs(), "transpose_a", "adjoint_a");
  const Form b_form = FormOf(p.attrs(), "transpose_b", "adjoint_b");
  const bool transposes = p.attrs().Bool("transpose_output", false);
  const bool conjugates = p.attrs().Bool("conjugate_output", false);
  return DispatchType(CsrTypes{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const CsrPtr a, Operand(run, 0, dtype, a_form));
      if (a->shape.rank() != dense.rank() || (dense.rank() == 3 && a->batches() != dense.dim(0))) {
        return InvalidArgument("a sparse matrix of shape ", a->shape.ToString(),
                               " times a dense one of shape ", dense.ToString());
      }
      const DenseMatrices b = DenseMatrices::Of(dense, b_form != Form::kPlain);
      if (a->width() != b.rows) {
        return InvalidArgument("a sparse matrix with ", a->width(), " columns times one with ",
                               b.rows, " rows");
      }
      Shape shape = dense;
      shape.set_dim(shape.rank() - 2, transposes ? b.columns : a->rows());
      shape.set_dim(shape.rank() - 1, transposes ? a->rows() : b.columns);
      TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
      TENON_ASSIGN_OR_RETURN(void* memory, OutputOfShape(run, 0, planned, shape));
      T* const out = static_cast<T*>(memory);
      const DenseMatrices c = DenseMatrices::Of(shape, transposes);
      std::vector<T> sum(static_cast<size_t>(b.columns));
      for (int64_t row = 0; row < a->all_rows(); ++row) {
        const int64_t batch = row / a->rows();
        std::fill(sum.begin(), sum.end(), T(0));
        for (int64_t i = a->start(row); i < a->start(row + 1); ++i) {
          const T v = a->values.template data<T>()[i];
          const T* from = run.input<T>(1) + b.At(batch, a->columns.template data<int32_t>()[i], 0);
          for (T& s : sum) {
            s += v * (b_form == Form::kAdjoint ? Conjugated(*from) : *from);
            from += b.column_stride;
          }
        }
        for (size_t k = 0; k < sum.size(); ++k) {
          out[c.At(batch, row % a->rows(), static_cast<int64_t>(k))] =
              conjugates ? Conjugated(sum[k]) : sum[k];
        }
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrTimesCsrKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("type"));
  const Form a_form = FormOf(p.attrs(), "transpose_a", "adjoint_a");
  const Form b_form = FormOf(p.attrs(), "transpose_b", "adjoint_b");
  return DispatchType(CsrTypes{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const CsrPtr a, Operand(run, 0, dtype, a_form));
      TENON_ASSIGN_OR_RETURN(const CsrPtr b, Operand(run, 1, dtype, b_form));
      const int64_t batches = std::max(a->batches(), b->batches());
      const auto fits = [&](const CsrMatrix& m) {
        return m.batches() == batches || m.batches() == 1;
      };
      if (a->shape.rank() != b->shape.rank() || !fits(*a) || !fits(*b) || a->width() != b->rows()) {
        return InvalidArgument("a product of sparse matrices of shapes ", a->shape.ToString(),
                               " and ", b->shape.ToString());
      }
      RowBuilder<T> product;
      for (int64_t all = 0; all < batches * a->rows(); ++all) {
        // One matrix serves a whole batch of the other side.
        const int64_t row = all % a->all_rows();
        const int64_t first = all / a->rows() * b->rows() % std::max<int64_t>(b->all_rows(), 1);
        for (int64_t i = a->start(row); i < a->start(row + 1); ++i) {
          const int64_t other = first + a->columns.template data<int32_t>()[i];
          for (int64_t k = b->start(other); k < b->start(other + 1); ++k) {
            product.Add(b->columns.template data<int32_t>()[k],
                        a->values.template data<T>()[i] * b->values.template data<T>()[k]);
          }
        }
        product.EndRow();
      }
      Shape shape = a->shape;
      shape.set_dim(shape.rank() - 1, b->width());
      if (shape.rank() == 3) shape.set_dim(0, batches);
      TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), product.Finish(shape));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrTransposeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("type"));
  const Conjugate conjugate = p.attrs().Bool("conjugate", false) ? Conjugate::kYes : Conjugate::kNo;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0), dtype));
    TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), Transposed(*m, conjugate));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrAddKernel(PrepareContext& p) {
  const DType dtype = p.input_dtype(2);
  return DispatchType(CsrTypes{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const CsrMatrix* a, CsrAt(run.input<ObjectPtr>(0), dtype));
      TENON_ASSIGN_OR_RETURN(const CsrMatrix* b, CsrAt(run.input<ObjectPtr>(1), dtype));
      TENON_RETURN_IF_ERROR(ExpectSameShape(*a, *b));
      RowBuilder<T> sum;
      for (int64_t row = 0; row < a->all_rows(); ++row) {
        for (const auto& [m, factor] :
             {std::pair(a, *run.input<T>(2)), std::pair(b, *run.input<T>(3))}) {
          for (int64_t i = m->start(row); i < m->start(row + 1); ++i) {
            sum.Add(m->columns.template data<int32_t>()[i],
                    factor * m->values.template data<T>()[i]);
          }
        }
        sum.EndRow();
      }
      TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), sum.Finish(a->shape));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrScaleKernel(PrepareContext& p) {
  const DType dtype = p.input_dtype(1);
  const Shape factors = p.input_shape(1);
  return DispatchType(CsrTypes{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0), dtype));
      if (factors.rank() != 0 && (m->shape.rank() != 3 || factors != Shape({m->batches(), 1, 1}))) {
        return InvalidArgument("a sparse matrix of shape ", m->shape.ToString(),
                               " times a tensor of shape ", factors.ToString());
      }
      const auto scale = [&](int64_t row, int64_t begin, int64_t end, T* out) {
        const T factor = run.input<T>(1)[factors.rank() == 0 ? 0 : row / m->rows()];
        for (int64_t i = begin; i < end; ++i) out[i] = m->values.template data<T>()[i] * factor;
      };
      TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), MapRows<T>(*m, scale));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrSoftmaxKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("type"));
  return DispatchType(TypeList<float, double>{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0), dtype));
      const auto softmax = [&](int64_t, int64_t begin, int64_t end, T* out) {
        if (begin == end) return;
        const T* x = m->values.template data<T>();
        const T largest = *std::max_element(x + begin, x + end);
        T sum = 0;
        for (int64_t i = begin; i < end; ++i) sum += out[i] = std::exp(x[i] - largest);
        for (int64_t i = begin; i < end; ++i) out[i] /= sum;
      };
      TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), MapRows<T>(*m, softmax));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrSoftmaxGradKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("type"));
  return DispatchType(TypeList<float, double>{}, dtype, [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const CsrMatrix* y, CsrAt(run.input<ObjectPtr>(0), dtype));
      TENON_ASSIGN_OR_RETURN(const CsrMatrix* dy, CsrAt(run.input<ObjectPtr>(1), dtype));
      TENON_RETURN_IF_ERROR(ExpectSameShape(*y, *dy));
      std::vector<std::pair<int32_t, T>> gradient;  // of one row, by column
      auto at = [&](int32_t column) {
        const auto found = std::lower_bound(
            gradient.begin(), gradient.end(), column,
            [](const auto& element, int32_t wanted) { return element.first < wanted; });
        return found != gradient.end() && found->first == column ? found->second : T(0);
      };
      const auto slope = [&](int64_t row, int64_t begin, int64_t end, T* out) {
        gradient.clear();
        for (int64_t i = dy->start(row); i < dy->start(row + 1); ++i) {
          gradient.emplace_back(dy->columns.template data<int32_t>()[i],
                                dy->values.template data<T>()[i]);
        }
        std::sort(gradient.begin(), gradient.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        const T* softmax = y->values.template data<T>();
        const int32_t* columns = y->columns.template data<int32_t>();
        T sum = 0;
        for (int64_t i = begin; i < end; ++i) sum += softmax[i] * at(columns[i]);
        for (int64_t i = begin; i < end; ++i) out[i] = softmax[i] * (at(columns[i]) - sum);
      };
      TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), MapRows<T>(*y, slope));
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
