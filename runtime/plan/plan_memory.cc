#include "runtime/plan/plan_memory.h"

#include <algorithm>

#include "env/status.h"
#include "graph/object.h"

namespace tenon {

int PlanMemory::Add(Item item) {
  items_.push_back(std::move(item));
  return static_cast<int>(items_.size()) - 1;
}

int PlanMemory::AddFeed(int feed) { return Add({.kind = Buffer::Kind::kFeed, .index = feed}); }

int PlanMemory::AddConstant(FlatPlan& plan, Tensor value) {
  plan.constants.push_back(std::move(value));
  return Add(
      {.kind = Buffer::Kind::kConstant, .index = static_cast<int>(plan.constants.size()) - 1});
}

absl::StatusOr<int> PlanMemory::AddComputed(const TensorSpec& spec, int step) {
  if (SizeOf(spec.dtype) == 0 && !HoldsObjects(spec.dtype)) {
    return Unimplemented("an output of dtype ", Name(spec.dtype), " cannot be held");
  }
  Item item{.kind = Buffer::Kind::kDynamic, .first = step, .last = step, .spec = spec};
  if (!spec.shape.IsComplete()) {
    item.index = num_dynamic_++;
    return Add(std::move(item));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t elements, spec.shape.CheckedElements());
  const bool constructed = spec.dtype == DType::kString || HoldsObjects(spec.dtype);
  item.kind = constructed ? Buffer::Kind::kStrings : Buffer::Kind::kArena;
  if (__builtin_mul_overflow(static_cast<size_t>(elements), SizeOf(spec.dtype), &item.bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a tensor of shape ", spec.shape.ToString(), " is too large"));
  }
  return Add(std::move(item));
}

int PlanMemory::AddHeld(const TensorSpec& spec, int step) {
  return Add({.kind = Buffer::Kind::kHeld,
              .index = num_dynamic_++,
              .first = step,
              .last = step,
              .spec = spec});
}

int PlanMemory::AddScratch(size_t bytes, int step) {
  return Add(
      {.kind = Buffer::Kind::kArena, .bytes = bytes, .first = step, .last = step, .scratch = true});
}

void PlanMemory::Read(int buffer, int step) {
  Item& item = at(buffer);
  item.last = std::max(item.last, step);
}

void PlanMemory::Fetch(int buffer, const TensorSpec& spec) {
  Item& item = at(buffer);
  if (item.fetched) return;
  item.fetched = true;
  item.spec = {spec.dtype, spec.shape, nullptr};
}

int PlanMemory::Resolve(int buffer) const {
  while (items_[static_cast<size_t>(buffer)].merged_into >= 0) {
    buffer = items_[static_cast<size_t>(buffer)].merged_into;
  }
  return buffer;
}

void PlanMemory::MergeInPlace(FlatPlan& plan) {
  for (const InPlace& c : in_place_) {
    if (at(c.output).merged_into >= 0) continue;
    const int target = Resolve(c.input);
    Item& in = at(target);
    Item& out = at(c.output);
    if (in.kind != Buffer::Kind::kArena || out.kind != Buffer::Kind::kArena) continue;
    if (in.fetched || out.fetched || in.last != c.step || in.bytes != out.bytes) continue;
    // Another argument in the same memory may be read in a different order.
    const auto same = [&](int read) { return Resolve(read) == target; };
    if (std::count_if(c.reads.begin(), c.reads.end(), same) != 1) continue;
    out.merged_into = target;
    in.last = out.last;
    ++plan.counts.in_place;
  }
}

// Releases a tensor after its last reader, to free memory and so that a variable's next update can
// be in place.
void PlanMemory::ListReleases(FlatPlan& plan) const {
  std::vector<std::pair<int, int>> ends;  // step, dynamic index
  for (const Item& item : items_) {
    const bool dynamic = item.kind == Buffer::Kind::kDynamic || item.kind == Buffer::Kind::kHeld;
    if (dynamic && !item.fetched) ends.emplace_back(item.last, item.index);
  }
  std::sort(ends.begin(), ends.end());
  size_t next = 0;
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    plan.steps[step].release_begin = static_cast<int>(next);
    for (; next < ends.size() && ends[next].first == static_cast<int>(step); ++next) {
      plan.releases.push_back(ends[next].second);
    }
    plan.steps[step].release_end = static_cast<int>(next);
  }
}

void PlanMemory::ResolveArgs(FlatPlan& plan) const {
  auto dynamic = plan.dynamic_steps.begin();  // in the order of the steps
  for (const FlatStep& step : plan.steps) {
    if (step.step == nullptr) continue;
    StepArgs& args = (*dynamic++)->args();
    for (StepArg& arg : args.outputs) arg.buffer = Resolve(arg.buffer);
    for (StepArg& arg : args.inputs) {
      arg.buffer = Resolve(arg.buffer);
      const Buffer& buffer = plan.buffers[static_cast<size_t>(arg.buffer)];
      if (buffer.kind != Buffer::Kind::kHeld && buffer.kind != Buffer::Kind::kDynamic) continue;
      const auto releases =
          absl::MakeConstSpan(plan.releases)
              .subspan(static_cast<size_t>(step.release_begin),
                       static_cast<size_t>(step.release_end - step.release_begin));
      arg.last_read = std::find(releases.begin(), releases.end(), buffer.index) != releases.end();
    }
  }
}

absl::Status PlanMemory::Finish(FlatPlan& plan) {
  MergeInPlace(plan);

  std::vector<ArenaItem> arena;
  std::vector<int> arena_buffers;
  plan.buffers.resize(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.merged_into >= 0) continue;
    Buffer& buffer = plan.buffers[i];
    const bool computed = item.kind == Buffer::Kind::kArena || item.kind == Buffer::Kind::kStrings;
    if (item.fetched && computed) {
      item.kind = Buffer::Kind::kOutput;
      item.index = static_cast<int>(plan.owned_outputs.size());
      plan.owned_outputs.push_back(item.spec);
    } else if (item.kind == Buffer::Kind::kArena) {
      arena.push_back({item.bytes, item.first, item.last});
      arena_buffers.push_back(static_cast<int>(i));
      plan.counts.unshared_bytes += item.bytes;
    } else if (item.kind == Buffer::Kind::kStrings) {
      item.index = static_cast<int>(plan.strings.size());
      plan.strings.push_back(item.spec);
    }
    buffer = {item.kind, item.index, 0, item.bytes};
  }
  TENON_ASSIGN_OR_RETURN(const ArenaLayout layout, LayOutArena(arena));
  for (size_t i = 0; i < arena.size(); ++i) {
    plan.buffers[static_cast<size_t>(arena_buffers[i])].offset = layout.offsets[i];
  }
  plan.arena_bytes = layout.bytes;
  plan.counts.arena_bytes = layout.bytes;
  plan.num_dynamic = num_dynamic_;
  plan.held_pointers.resize(static_cast<size_t>(num_dynamic_));
  ListReleases(plan);

  for (size_t position = 0; position < plan.pointers.size(); ++position) {
    int& pointer = plan.pointers[position];
    if (pointer < 0) continue;
    pointer = Resolve(pointer);
    const Buffer& buffer = plan.buffers[static_cast<size_t>(pointer)];
    const PointerPatch patch{static_cast<int>(position), buffer.index};
    if (buffer.kind == Buffer::Kind::kFeed) plan.feed_pointers.push_back(patch);
    if (buffer.kind == Buffer::Kind::kOutput) plan.output_pointers.push_back(patch);
    if (buffer.kind == Buffer::Kind::kHeld) {
      plan.held_pointers[static_cast<size_t>(buffer.index)].push_back(patch.position);
    }
  }
  ResolveArgs(plan);
  for (PlanOutput& output : plan.outputs) output.buffer = Resolve(output.buffer);
  return absl::OkStatus();
}

}  // namespace tenon
