#include "graph_rewrite/rule_order.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SizedRule Named(const char* name, const char* after = "", int size = 1) {
  Rule rule;
  rule.name = name;
  rule.after = after;
  return {rule, size};
}

std::vector<std::string> Order(const std::vector<SizedRule>& rules,
                               std::vector<std::string>* errors = nullptr) {
  std::vector<std::string> own, names;
  for (const Rule& r : OrderRules(rules, errors == nullptr ? own : *errors)) {
    names.emplace_back(r.name);
  }
  if (errors == nullptr) {
    EXPECT_THAT(own, IsEmpty());
  }
  return names;
}

TEST(RuleOrder, IsByNameWhereNothingIsSaid) {
  EXPECT_THAT(Order({Named("C"), Named("A"), Named("B")}), ElementsAre("A", "B", "C"));
}

TEST(RuleOrder, LargerPatternsComeFirst) {
  EXPECT_THAT(Order({Named("A"), Named("B", "", 3), Named("C", "", 2)}),
              ElementsAre("B", "C", "A"));
}

TEST(RuleOrder, ARuleRunsAfterThoseThatItNames) {
  EXPECT_THAT(Order({Named("A", "C B"), Named("B"), Named("C", "D"), Named("D"), Named("E")}),
              ElementsAre("B", "D", "C", "A", "E"));
  // Even if its pattern is larger.
  EXPECT_THAT(Order({Named("A", "B", 5), Named("B")}), ElementsAre("B", "A"));
}

TEST(RuleOrder, SweepsGoFirstAndLastRulesLast) {
  SizedRule sweep = Named("Z"), last = Named("A");
  sweep.rule.sweep = [](RuleContext&) { return absl::OkStatus(); };
  last.rule.last = true;
  EXPECT_THAT(Order({last, Named("B", "", 4), sweep}), ElementsAre("Z", "B", "A"));
}

TEST(RuleOrder, PhasesGoInTheirOrder) {
  SizedRule clean = Named("Z");
  clean.rule.phase = Phase::kClean;
  EXPECT_THAT(Order({Named("A"), clean}), ElementsAre("Z", "A"));
}

TEST(RuleOrder, WhatCannotBeIsAnError) {
  std::vector<std::string> errors;
  SizedRule clean = Named("B"), last = Named("C");
  clean.rule.phase = Phase::kClean;
  last.rule.last = true;
  Order({Named("A", "B C D"), clean, last}, &errors);
  EXPECT_THAT(errors, ElementsAre("A: after B, which is of another phase",
                                  "A: after C, which is last", "A: after D, which is no rule"));
}

TEST(RuleOrder, ACycleIsAnErrorAndGoesByName) {
  std::vector<std::string> errors;
  EXPECT_THAT(Order({Named("C", "B"), Named("B", "C"), Named("A")}, &errors),
              ElementsAre("A", "B", "C"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0], HasSubstr("B, C: a cycle"));
}

}  // namespace
}  // namespace tenon
