// Helpers for tests of the C interface.
#ifndef TENON_TESTS_UNIT_INCLUDE_C_API_SUPPORT_H_
#define TENON_TESTS_UNIT_INCLUDE_C_API_SUPPORT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "include/tenon/tenon.h"

namespace tenon::c_api_test {

// The message of a status, which it frees; "" for success.
inline std::string Message(tenon_status* status) {
  const std::string message = tenon_status_message(status);
  tenon_status_free(status);
  return message;
}

inline tenon_tensor* FloatTensor(const std::vector<int64_t>& dims,
                                 const std::vector<float>& values) {
  tenon_tensor* tensor = nullptr;
  EXPECT_EQ(Message(tenon_tensor_create(TENON_FLOAT, dims.data(), static_cast<int>(dims.size()),
                                        &tensor)),
            "");
  std::copy(values.begin(), values.end(), static_cast<float*>(tenon_tensor_data(tensor)));
  return tensor;
}

}  // namespace tenon::c_api_test

#endif  // TENON_TESTS_UNIT_INCLUDE_C_API_SUPPORT_H_
