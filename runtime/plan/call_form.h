// What a control-flow node calls.
#ifndef TENON_RUNTIME_PLAN_CALL_FORM_H_
#define TENON_RUNTIME_PLAN_CALL_FORM_H_

#include <vector>

namespace tenon {

class Body;  // body.h

// How a control-flow node hands its inputs to its functions.
struct CallForm {
  enum Kind { kIf, kCase, kWhile } kind = kIf;
  // If: then, else. Case: the branches. While: condition, body.
  std::vector<Body*> bodies;
  int first_input = 0;  // of the functions' arguments
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_CALL_FORM_H_
