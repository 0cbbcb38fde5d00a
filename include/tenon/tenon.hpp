// Tenon's C++ interface (C++17): a thin layer over tenon.h that owns its objects. It is compiled
// into the caller; the library itself exports only C. Failures are thrown as tenon::Error.
//
//   tenon::Session session("resnet50");
//   tenon::Tensor image = tenon::Tensor::Create<float>({1, 224, 224, 3});
//   ... image.data<float>() ...
//   std::vector<tenon::Tensor> outputs = session.Run({image});
//   std::vector<tenon::Tensor> y = tenon::eager::Execute("Softmax", {outputs[0]});
//
// Objects can be moved; what was moved from may only be assigned to or destroyed. Of the objects
// only Tensor and CancelToken can be copied: the copies share what the original has.
#ifndef TENON_TENON_HPP_
#define TENON_TENON_HPP_

#include "eager.hpp"     // beside this file
#include "generate.hpp"  // likewise
#include "session.hpp"   // likewise
#include "tensor.hpp"    // likewise

#endif  // TENON_TENON_HPP_
