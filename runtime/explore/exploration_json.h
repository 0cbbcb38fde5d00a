// The report "tenon.explore", version 1: everything that an Exploration knows, as JSON. Its schema
// is docs/explore.schema.json.
#ifndef TENON_RUNTIME_EXPLORE_EXPLORATION_JSON_H_
#define TENON_RUNTIME_EXPLORE_EXPLORATION_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/explore/advice.h"
#include "runtime/explore/exploration.h"

namespace tenon {

nlohmann::ordered_json ExplorationJson(const Model& model, const Exploration& e,
                                       const Machine& machine);
nlohmann::ordered_json ReasonJson(const Reason& reason);
// An attribute as text; of a tensor, its dtype and shape.
std::string AttrText(const AttrValue& value);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_EXPLORATION_JSON_H_
