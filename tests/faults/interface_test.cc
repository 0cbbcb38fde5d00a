// The C interface, and eager calls through it: each allocation fails.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "include/tenon/tenon.h"
#include "tests/faults/fault_sweep.h"
#include "tests/faults/long.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

constexpr int kPoints = 150;
// Before any test makes a primitive.
const bool may_be_refused = faults::SetMayBeRefused();

// Frees the status. Without its message, for which there may be no memory.
absl::Status Code(tenon_status* status) {
  const auto code = static_cast<absl::StatusCode>(tenon_status_code(status));
  const bool silent = status != nullptr && tenon_status_message(status)[0] == '\0';
  tenon_status_free(status);
  return silent ? absl::Status(absl::StatusCode::kInternal, "") : absl::Status(code, "");
}

struct Tensor {
  ~Tensor() { tenon_tensor_free(get); }
  tenon_tensor* get = nullptr;
};

// [rows, columns] of 0, 1, 2 …
absl::Status Make(int64_t rows, int64_t columns, Tensor& t) {
  const int64_t dims[] = {rows, columns};
  absl::Status status = Code(tenon_tensor_create(TENON_FLOAT, dims, 2, &t.get));
  if (!status.ok()) return status;
  auto* const data = static_cast<float*>(tenon_tensor_data(t.get));
  for (int64_t i = 0; i < rows * columns; ++i) data[i] = static_cast<float>(i);
  return status;
}

class SessionCalls {
 public:
  ~SessionCalls() { tenon_session_free(session_); }
  absl::Status Load() {
    tenon_session_free(std::exchange(session_, nullptr));
    tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
    options.threads = 2;
    return Code(tenon_session_create(path_.c_str(), &options, &session_));
  }
  absl::Status Run() {
    if (session_ == nullptr) {
      if (absl::Status loaded = Load(); !loaded.ok()) return loaded;
    }
    Tensor x, y;
    if (absl::Status made = Make(2, 16, x); !made.ok()) return made;
    absl::Status status = Code(tenon_session_run(session_, &x.get, 1, &y.get, 1));
    if (!status.ok()) return status;
    const auto* const rows = static_cast<const float*>(tenon_tensor_data(y.get));
    if (first_ == 0) first_ = rows[0];
    const bool right = tenon_tensor_num_elements(y.get) == 2 && std::abs(rows[0] - first_) < 1e-4f;
    return right ? status : absl::InternalError("another result");
  }

 private:
  const std::string path_ = SourcePath("tests/models/mlp/saved_model");
  tenon_session* session_ = nullptr;
  float first_ = 0;
};

TEST(InterfaceFaults, Sessions) {
  ASSERT_TRUE(may_be_refused);
  SessionCalls calls;
  const auto ok = [] { return absl::OkStatus(); };
  faults::Sweep({.name = "tenon_session_create",
                 .prepare = ok,
                 .run = [&] { return calls.Load(); },
                 .check = [&] { return calls.Run(); }},
                kPoints);
  faults::Sweep({.name = "tenon_session_run",
                 .prepare = [&] { return calls.Load(); },
                 .run = [&] { return calls.Run(); },
                 .check = [&] { return calls.Run(); }},
                kPoints);
}

// A product whose second operand is transposed: [2, 3] x [2, 3]^T = [[5, 14], [14, 50]].
class EagerCalls {
 public:
  ~EagerCalls() { tenon_eager_free(eager_); }
  absl::Status Create() {
    tenon_eager_free(std::exchange(eager_, nullptr));
    tenon_eager_options options = TENON_EAGER_OPTIONS_INIT;
    options.threads = 2;
    return Code(tenon_eager_create(&options, &eager_));
  }
  absl::Status Execute() { return WithAttrs(&EagerCalls::ExecuteWith); }
  absl::Status Submit() { return WithAttrs(&EagerCalls::SubmitWith); }

 private:
  absl::Status WithAttrs(absl::Status (EagerCalls::*call)(const tenon_attrs*)) {
    tenon_attrs* const attrs = tenon_attrs_create();
    if (attrs == nullptr) return absl::Status(absl::StatusCode::kResourceExhausted, "");
    absl::Status status = Code(tenon_attrs_set_bool(attrs, "transpose_b", 1));
    if (status.ok()) status = (this->*call)(attrs);
    tenon_attrs_free(attrs);
    return status;
  }
  absl::Status ExecuteWith(const tenon_attrs* attrs) {
    Tensor x, y;
    if (absl::Status made = Make(2, 3, x); !made.ok()) return made;
    const tenon_tensor* const inputs[] = {x.get, x.get};
    int count = 1;
    absl::Status status =
        Code(tenon_eager_execute(eager_, "MatMul", inputs, 2, attrs, &y.get, &count));
    return status.ok() ? Check(y) : status;
  }
  absl::Status SubmitWith(const tenon_attrs* attrs) {
    Tensor x, y;
    tenon_handle *in = nullptr, *out = nullptr;
    absl::Status status = Make(2, 3, x);
    if (status.ok()) status = Code(tenon_handle_create(x.get, &in));
    const tenon_handle* const inputs[] = {in, in};
    int count = 1;
    if (status.ok()) {
      status = Code(tenon_eager_submit(eager_, "MatMul", inputs, 2, attrs, &out, &count));
    }
    if (status.ok()) status = Code(tenon_handle_read(out, &y.get));
    tenon_handle_free(in);
    tenon_handle_free(out);
    return status.ok() ? Check(y) : status;
  }
  static absl::Status Check(const Tensor& y) {
    constexpr float kExpected[] = {5, 14, 14, 50};
    const bool right = tenon_tensor_bytes(y.get) == sizeof(kExpected) &&
                       std::memcmp(tenon_tensor_data(y.get), kExpected, sizeof(kExpected)) == 0;
    return right ? absl::OkStatus() : absl::InternalError("another result");
  }

  tenon_eager* eager_ = nullptr;
};

TEST(InterfaceFaults, EagerCalls) {
  EagerCalls calls;
  const auto first = [&] { return calls.Create(); };
  const auto execute = [&] { return calls.Execute(); };
  const auto submit = [&] { return calls.Submit(); };
  const auto later = [&](const auto& call) {
    return [&] {
      absl::Status status = calls.Create();
      return status.ok() ? call() : status;
    };
  };
  faults::Sweep({.name = "tenon_eager_create", .run = first, .check = later(execute)}, kPoints);
  faults::Sweep(
      {.name = "tenon_eager_execute, first", .prepare = first, .run = execute, .check = execute},
      kPoints);
  faults::Sweep({.name = "tenon_eager_execute, later",
                 .prepare = later(execute),
                 .run = execute,
                 .check = execute},
                kPoints);
  faults::Sweep(
      {.name = "tenon_eager_submit, first", .prepare = first, .run = submit, .check = submit},
      kPoints);
  faults::Sweep({.name = "tenon_eager_submit, later",
                 .prepare = later(submit),
                 .run = submit,
                 .check = submit},
                kPoints);
}

}  // namespace
}  // namespace tenon
