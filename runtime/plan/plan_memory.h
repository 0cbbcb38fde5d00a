// The memory of a plan under construction: assigns a place to each tensor, given its lifetime;
// tensors may share a buffer (views, in-place).
#ifndef TENON_RUNTIME_PLAN_PLAN_MEMORY_H_
#define TENON_RUNTIME_PLAN_PLAN_MEMORY_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {

class PlanMemory {
 public:
  // A tensor's memory.
  struct Item {
    Buffer::Kind kind;
    int index = -1;
    size_t bytes = 0;
    int first = 0;
    int last = 0;
    TensorSpec spec = {};
    int merged_into = -1;
    int taken_from = -1;  // has the memory of that one, or its own: the run decides
    int taken_at = -1;    // the step
    int handed = -1;      // the last step that may take it
    bool wanted = false;  // taken, and not in the arena
    bool fetched = false;
    bool scratch = false;
    bool of_variable = false;
    int part_of = -1;  // a part of that one, which is none itself
    size_t part_offset = 0;
  };

  // Each returns a buffer number. Feeds and constants live for the whole run.
  int AddFeed(int feed, const TensorSpec& spec);
  int AddConstant(FlatPlan& plan, Tensor value);
  // Written by `step`; has a complete shape (kArena, or kStrings) or is determined at run time.
  absl::StatusOr<int> AddComputed(const TensorSpec& spec, int step);
  // Has a known shape; `step` provides the tensor itself.
  int AddHeld(const TensorSpec& spec, int step);
  // The tensor is a variable's.
  void OfVariable(int buffer);
  int AddScratch(size_t bytes, int step);
  // A part of another one, `offset` bytes from its start; -1: it may not have parts.
  int AddPart(int whole, size_t offset, const TensorSpec& spec);
  bool IsPart(int buffer) const { return at(buffer).part_of >= 0; }
  // The buffer that this one is a part of, or itself.
  int WholeOf(int buffer) const { return IsPart(buffer) ? at(buffer).part_of : buffer; }

  size_t size() const { return items_.size(); }
  const Item& at(int buffer) const { return items_[static_cast<size_t>(buffer)]; }

  void Read(int buffer, int step);
  // `step` reads it and may take it, as its owner, if nobody reads it later.
  void Hand(int buffer, int step);
  // Nothing else gets the buffer's memory in a plan of `steps` steps, so that the state's next run
  // finds the tensor there.
  void Keep(int buffer, int steps);
  // The caller gets this buffer's tensor (with the dtype and shape of the first request).
  void Fetch(int buffer, const TensorSpec& spec);

  // `output` may replace `input`, which `step` reads; `step` reads exactly `reads`.
  struct InPlace {
    int step;
    int input;
    int output;
    std::vector<int> reads;
  };
  void AllowInPlace(InPlace candidate) { in_place_.push_back(std::move(candidate)); }

  // The run may take feeds that nobody else holds: the plan is a function's.
  void OwnFeeds() { owns_feeds_ = true; }

  // Decides in-place use, lays out the arena, and fills the plan's buffers, pointers and patches.
  // FlatPlan::pointers and FlatPlan::outputs hold this object's buffer numbers before and the
  // plan's after.
  absl::Status Finish(FlatPlan& plan);

 private:
  Item& at(int buffer) { return items_[static_cast<size_t>(buffer)]; }
  int Add(Item item);
  int Resolve(int buffer) const;
  bool CanTake(const Item& in, const Item& out) const;
  void ChooseTaken();
  void MergeInPlace(FlatPlan& plan);
  void ListTakes(FlatPlan& plan);
  void ListRecycled(FlatPlan& plan) const;
  void ListReleases(FlatPlan& plan) const;
  void ResolveArgs(FlatPlan& plan) const;

  std::vector<Item> items_;
  std::vector<InPlace> in_place_;
  int num_dynamic_ = 0;
  bool owns_feeds_ = false;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_MEMORY_H_
