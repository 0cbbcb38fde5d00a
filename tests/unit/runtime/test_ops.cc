#include "tests/unit/runtime/test_ops.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "env/status.h"
#include "ops/op.h"

namespace tenon::testing {
namespace {

using KernelOr = absl::StatusOr<std::unique_ptr<Kernel>>;

KernelOr Add(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return MakeKernel([n](RunContext& r) {
    const float* x = r.input<float>(0);
    const float* y = r.input<float>(1);
    for (int64_t i = 0; i < n; ++i) r.output<float>(0)[i] = x[i] + y[i];
    return absl::OkStatus();
  });
}

template <bool kInPlace>
KernelOr Neg(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  if (kInPlace) p.AllowInPlace(0, 0);
  return MakeKernel([n](RunContext& r) {
    const float* x = r.input<float>(0);
    float* y = r.output<float>(0);
    if (!kInPlace && n > 0 && x == y) return absl::InternalError("written in place");
    for (int64_t i = 0; i < n; ++i) y[i] = kInPlace ? -x[i] : x[i];
    return absl::OkStatus();
  });
}

absl::Status ViewShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, c.attrs().ShapeOf("shape"));
  c.set_output(0, shape);
  return absl::OkStatus();
}

absl::Status ShapeShape(ShapeContext& c) {
  c.set_output(0, c.input(0).has_rank() ? Shape({c.input(0).rank()}) : Shape::UnknownOfRank(1));
  return absl::OkStatus();
}

KernelOr ShapeKernel(PrepareContext& p) {
  return MakeKernel([shape = p.input_shape(0)](RunContext& r) {
    for (int i = 0; i < shape.rank(); ++i) r.output<int32_t>(0)[i] = static_cast<int32_t>(shape[i]);
    return absl::OkStatus();
  });
}

absl::Status PositiveShape(ShapeContext& c) {
  c.set_output(0, Shape({-1}));
  return absl::OkStatus();
}

KernelOr Positive(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([n](RunContext& r) {
    const float* x = r.input<float>(0);
    const int64_t count = std::count_if(x, x + n, [](float v) { return v > 0; });
    TENON_ASSIGN_OR_RETURN(void* out, r.AllocateOutput(0, Shape({count})));
    std::copy_if(x, x + n, static_cast<float*>(out), [](float v) { return v > 0; });
    return absl::OkStatus();
  });
}

absl::Status RepeatShape(ShapeContext& c) {
  if (c.value(1) == nullptr) {
    c.set_output(0, Shape({-1}));
    return absl::OkStatus();
  }
  c.set_output(0, Shape({c.input(0).num_elements() < 0
                             ? -1
                             : c.input(0).num_elements() * c.value(1)->data<int32_t>()[0]}));
  return absl::OkStatus();
}

KernelOr Repeat(PrepareContext& p) {
  const Tensor* n = p.value(1);
  if (n == nullptr) return Unimplemented("n must be known");
  return MakeKernel(
      [n = n->data<int32_t>()[0], size = p.input_shape(0).num_elements()](RunContext& r) {
        for (int32_t i = 0; i < n; ++i) {
          std::copy_n(r.input<float>(0), size, r.output<float>(0) + i * size);
        }
        return absl::OkStatus();
      });
}

class Packed final : public DerivedConstant {
 public:
  explicit Packed(Tensor t) : tensor(std::move(t)) {}
  size_t bytes() const override { return tensor.bytes(); }
  bool CanUnpack() const override { return true; }
  absl::StatusOr<Tensor> Plain() const override { return tensor; }
  const Tensor tensor;
};

KernelOr AddPacked(PrepareContext& p) {
  if (p.constant(1) == nullptr) return Unimplemented("w must be a constant");
  TENON_ASSIGN_OR_RETURN(
      auto form,
      p.constant(1)->Derive(
          "packed",
          [](const Tensor& plain) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
            TENON_ASSIGN_OR_RETURN(Tensor copy, plain.Clone());
            return std::make_shared<Packed>(std::move(copy));
          }));
  p.InputNotRead(1);
  return MakeKernel([form, n = p.output_shape(0).num_elements()](RunContext& r) {
    if (r.input(1) != nullptr) return absl::InternalError("an unread input is given");
    const float* w = static_cast<const Packed&>(*form).tensor.data<float>();
    for (int64_t i = 0; i < n; ++i) r.output<float>(0)[i] = r.input<float>(0)[i] + w[i];
    return absl::OkStatus();
  });
}

KernelOr Fail(PrepareContext&) {
  return MakeKernel([](RunContext&) { return absl::InternalError("on purpose"); });
}

KernelOr Upper(PrepareContext& p) {
  return MakeKernel([n = p.output_shape(0).num_elements()](RunContext& r) {
    for (int64_t i = 0; i < n; ++i) {
      std::string s = r.input<std::string>(0)[i];
      for (char& c : s) c = static_cast<char>(std::toupper(c));
      r.output<std::string>(0)[i] = std::move(s);
    }
    return absl::OkStatus();
  });
}

KernelOr Scratch(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  p.RequestScratch(static_cast<size_t>(n) * sizeof(float));
  return MakeKernel([n](RunContext& r) {
    float* scratch = static_cast<float*>(r.scratch());
    for (int64_t i = 0; i < n; ++i) scratch[i] = 2 * r.input<float>(0)[i];
    for (int64_t i = 0; i < n; ++i) r.output<float>(0)[i] = scratch[i];
    return absl::OkStatus();
  });
}

const OpRegistration rows[] = {
    OpRegistration({.name = "TestAdd",
                    .inputs = "x: float, y: float",
                    .outputs = "z: float",
                    .shape = UnchangedShape,
                    .reference = Add}),
    OpRegistration({.name = "TestNeg",
                    .inputs = "x: float",
                    .outputs = "y: float",
                    .shape = UnchangedShape,
                    .reference = Neg<true>}),
    OpRegistration({.name = "TestCopy",
                    .inputs = "x: float",
                    .outputs = "y: float",
                    .shape = UnchangedShape,
                    .reference = Neg<false>}),
    OpRegistration({.name = "TestView",
                    .inputs = "x: float",
                    .outputs = "y: float",
                    .attrs = "shape: shape",
                    .shape = ViewShape,
                    .reference = Neg<false>,
                    .alias = true}),
    OpRegistration({.name = "TestShape",
                    .inputs = "x: float",
                    .outputs = "y: int32",
                    .shape = ShapeShape,
                    .reference = ShapeKernel,
                    .shape_only = true}),
    OpRegistration({.name = "TestPositive",
                    .inputs = "x: float",
                    .outputs = "y: float",
                    .shape = PositiveShape,
                    .reference = Positive}),
    OpRegistration({.name = "TestRepeat",
                    .inputs = "x: float, n: int32",
                    .outputs = "y: float",
                    .shape = RepeatShape,
                    .reference = Repeat}),
    OpRegistration({.name = "TestPacked",
                    .inputs = "x: float, w: float",
                    .outputs = "y: float",
                    .shape = UnchangedShape,
                    .reference = AddPacked}),
    OpRegistration({.name = "TestFail",
                    .inputs = "x: float",
                    .outputs = "y: float",
                    .shape = UnchangedShape,
                    .reference = Fail}),
    OpRegistration({.name = "TestUpper",
                    .inputs = "x: string",
                    .outputs = "y: string",
                    .shape = UnchangedShape,
                    .reference = Upper}),
    OpRegistration({.name = "TestScratch",
                    .inputs = "x: float",
                    .outputs = "y: float",
                    .shape = UnchangedShape,
                    .reference = Scratch}),
};

}  // namespace

Endpoint GraphMaker::Input(const std::string& name, const Shape& shape, DType dtype) {
  const Endpoint e = Node("Placeholder", name, {}, {{"dtype", dtype}, {"shape", shape}});
  graph_->AddInput({name, e.node});
  return e;
}

Endpoint GraphMaker::Const(const std::string& name, Tensor value) {
  const DType dtype = value.dtype();
  return Node("Const", name, {}, {{"value", std::move(value)}, {"dtype", dtype}});
}

Endpoint GraphMaker::Node(const std::string& op, const std::string& name,
                          std::vector<Endpoint> inputs, AttrMap attrs) {
  tenon::Node node;
  node.name = name;
  node.op = op;
  node.inputs.assign(inputs.begin(), inputs.end());
  node.attrs = std::move(attrs);
  return {*graph_->AddNode(std::move(node)), 0};
}

}  // namespace tenon::testing
