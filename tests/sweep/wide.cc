#include "tests/sweep/wide.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "env/status.h"
#include "kernels/sequence/recurrence.h"
#include "kernels/sequence/recurrence_run.h"
#include "tests/support/prepared_case.h"

namespace tenon::sweep {
namespace {

DType Wide(DType dtype) {
  return dtype == DType::kFloat       ? DType::kDouble
         : dtype == DType::kComplex64 ? DType::kComplex128
                                      : dtype;
}

template <typename From, typename To>
Tensor Converted(const Tensor& t, DType dtype) {
  Tensor out = *Tensor::Allocate(dtype, t.shape());
  std::transform(t.data<From>(), t.data<From>() + t.num_elements(), out.data<To>(),
                 [](const From& v) { return To(v); });
  return out;
}

Tensor Widened(const Tensor& t) {
  if (t.dtype() == DType::kFloat) return Converted<float, double>(t, DType::kDouble);
  if (t.dtype() != DType::kComplex64) return t;
  return Converted<std::complex<float>, std::complex<double>>(t, DType::kComplex128);
}
Tensor Narrowed(const Tensor& t) {
  if (t.dtype() == DType::kDouble) return Converted<double, float>(t, DType::kFloat);
  if (t.dtype() != DType::kComplex128) return t;
  return Converted<std::complex<double>, std::complex<float>>(t, DType::kComplex64);
}

// ---- _Recurrence, whose reference kernel has no double
// -------------------------------------------

double Activated(GateActivation a, double x) {
  switch (a) {
    case GateActivation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case GateActivation::kTanh:
      return std::tanh(x);
    case GateActivation::kRelu:
      return std::max(x, 0.0);
    default:
      return x;
  }
}

using Doubles = std::vector<double>;

// h [units] times the columns of gate `g` of w [units, gates * units].
Doubles Product(const Doubles& h, const float* w, size_t gates, size_t g) {
  const size_t units = h.size();
  Doubles out(units);
  for (size_t k = 0; k < units; ++k) {
    for (size_t u = 0; u < units; ++u) {
      out[u] += h[k] * static_cast<double>(w[k * gates * units + g * units + u]);
    }
  }
  return out;
}

// The states of one row after one step. `x`: the inputs' products.
void Step(const RecurrenceAttrs& a, const float* x, const float* w, const float* bias, Doubles& h,
          Doubles& c) {
  const size_t units = h.size(), gates = static_cast<size_t>(a.gates());
  std::vector<Doubles> products;
  for (size_t g = 0; g < gates; ++g) products.push_back(Product(h, w, gates, g));
  const auto gate = [&](size_t g, size_t u, double product) {
    return Activated(a.activations.of[g], product + static_cast<double>(x[g * units + u]));
  };
  Doubles reset = h, next(units);
  if (a.cell == RecurrentCell::kGruResetBefore) {
    for (size_t u = 0; u < units; ++u) reset[u] *= gate(1, u, products[1][u]);
    products[2] = Product(reset, w, gates, 2);
  }
  for (size_t u = 0; u < units; ++u) {
    if (a.cell == RecurrentCell::kSimple) {
      next[u] = gate(0, u, products[0][u]);
    } else if (a.cell == RecurrentCell::kLstm) {
      c[u] = gate(1, u, products[1][u]) * c[u] +
             gate(0, u, products[0][u]) * gate(2, u, products[2][u]);
      next[u] = gate(3, u, products[3][u]) * Activated(a.activations.of[4], c[u]);
    } else {
      double candidate = products[2][u] + (bias == nullptr ? 0 : static_cast<double>(bias[u]));
      if (a.cell == RecurrentCell::kGru) candidate *= gate(1, u, products[1][u]);
      const double z = gate(0, u, products[0][u]);
      next[u] = z * h[u] + (1 - z) * gate(2, u, candidate);
    }
  }
  h = next;
}

// Of the sequences that draw_sequence.cc draws: one, without masks, projections and limits.
absl::StatusOr<std::vector<Tensor>> Recurrence(const Problem& p) {
  TENON_ASSIGN_OR_RETURN(const RecurrenceAttrs a, ReadRecurrenceAttrs(AttrReader(p.node)));
  const auto input = [&](int i) { return p.inputs[static_cast<size_t>(i)].tensor; };
  const Tensor x = input(a.x(0)), first = input(a.state(0, 0));
  const int64_t steps = x.shape()[a.time_major ? 0 : 1], batch = first.shape()[0];
  const int64_t units = first.shape()[1], row = a.gates() * units;
  const float* const bias =
      a.biased ? p.inputs[static_cast<size_t>(a.bias(0))].tensor.data<float>() : nullptr;
  Tensor y = *Tensor::Allocate(
      DType::kFloat, a.time_major ? Shape({steps, batch, units}) : Shape({batch, steps, units}));
  std::vector<Tensor> results{y};
  for (int i = 0; i < a.states(); ++i) {
    results.push_back(*Tensor::Allocate(DType::kFloat, Shape({batch, units})));
  }
  const bool reverse = a.reverse[0] != 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto state = [&](int i) {
      const float* const from = p.inputs[static_cast<size_t>(a.state(0, i))].tensor.data<float>();
      return Doubles(from + b * units, from + (b + 1) * units);
    };
    Doubles h = state(0), c = a.states() > 1 ? state(1) : Doubles();
    for (int64_t t = 0; t < steps; ++t) {
      const auto at = [&](int64_t time) {
        return a.time_major ? time * batch + b : b * steps + time;
      };
      Step(a, x.data<float>() + at(reverse ? steps - 1 - t : t) * row, input(a.w(0)).data<float>(),
           bias, h, c);
      std::copy(h.begin(), h.end(), y.data<float>() + at(t) * units);
    }
    std::copy(h.begin(), h.end(), results[1].data<float>() + b * units);
    if (a.states() > 1) std::copy(c.begin(), c.end(), results[2].data<float>() + b * units);
  }
  return results;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunInDouble(const Problem& p, const Services& services) {
  if (p.node.op == "_Recurrence") return Recurrence(p);
  Node node = p.node;
  const DType* const type = node.attr<DType>("T");
  if ((type != nullptr && *type != DType::kFloat) || node.attrs.contains("U")) {
    return Unimplemented("other dtypes");
  }
  bool narrow = false;
  for (auto& [name, value] : node.attrs) {
    const DType* const dtype = value.get_if<DType>();
    if (dtype == nullptr || Wide(*dtype) == *dtype) continue;
    narrow = true;
    value = Wide(*dtype);
  }
  if (!narrow) return Unimplemented("no dtype of float");
  std::vector<Tensor> inputs;
  for (const GuardedTensor& t : p.inputs) inputs.push_back(Widened(t.tensor));
  TENON_ASSIGN_OR_RETURN(const PreparedCase prepared,
                         PrepareCase(p.golden, node, inputs, services));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, RunKernel(prepared.kernel, inputs));
  for (Tensor& t : results) t = Narrowed(t);
  return results;
}

double RmsError(const Tensor& got, const Tensor& wanted) {
  double errors = 0, values = 0;
  const auto add = [&]<typename T>(const T* a, const T* b) {
    for (int64_t i = 0; i < wanted.num_elements(); ++i) {
      errors += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
      values += std::norm(std::complex<double>(b[i]));
    }
  };
  if (wanted.dtype() == DType::kFloat) add(got.data<float>(), wanted.data<float>());
  if (wanted.dtype() == DType::kComplex64) {
    add(got.data<std::complex<float>>(), wanted.data<std::complex<float>>());
  }
  return values > 0 ? std::sqrt(errors / values) : 0;
}

}  // namespace tenon::sweep
