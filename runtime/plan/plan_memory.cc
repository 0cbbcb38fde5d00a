#include "runtime/plan/plan_memory.h"

#include <algorithm>

#include "env/status.h"
#include "graph/object.h"

namespace tenon {

int PlanMemory::Add(Item item) {
  items_.push_back(std::move(item));
  return static_cast<int>(items_.size()) - 1;
}

int PlanMemory::AddFeed(int feed, const TensorSpec& spec) {
  return Add({.kind = Buffer::Kind::kFeed, .index = feed, .spec = spec});
}

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

int PlanMemory::AddPart(int whole, size_t offset, const TensorSpec& spec) {
  if (at(whole).part_of >= 0) {
    offset += at(whole).part_offset;
    whole = at(whole).part_of;
  }
  const Item& item = at(whole);
  if (item.kind != Buffer::Kind::kArena) {
    // A reader of the part keeps the whole from being changed in place, which may cost more than
    // the copy of a small part; and a variable is changed by others.
    const bool known =
        (item.kind == Buffer::Kind::kHeld && !item.of_variable) || item.kind == Buffer::Kind::kFeed;
    if (!known || !item.spec.shape.IsComplete()) return -1;
    constexpr int64_t kSmallPart = 64;
    if (spec.shape.num_elements() * kSmallPart < item.spec.shape.num_elements()) return -1;
  }
  return Add({.kind = Buffer::Kind::kNone,
              .first = item.first,
              .last = item.last,
              .spec = spec,
              .part_of = whole,
              .part_offset = offset});
}

void PlanMemory::Read(int buffer, int step) {
  Item& item = at(buffer);
  item.last = std::max(item.last, step);
  if (item.part_of >= 0) Read(item.part_of, step);
}

void PlanMemory::OfVariable(int buffer) { at(buffer).of_variable = true; }

void PlanMemory::Hand(int buffer, int step) {
  Item& item = at(buffer);
  item.handed = std::max(item.handed, step);
}

void PlanMemory::Keep(int buffer, int steps) {
  Item& item = at(buffer);
  item.first = 0;
  item.last = steps;
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

bool PlanMemory::CanTake(const Item& in, const Item& out) const {
  const bool taken = in.kind == Buffer::Kind::kHeld || in.taken_from >= 0 ||
                     (in.kind == Buffer::Kind::kFeed && owns_feeds_);
  const bool list = out.kind == Buffer::Kind::kStrings && HoldsObjects(out.spec.dtype);
  return taken && (out.kind == Buffer::Kind::kArena || list) && out.spec.dtype == in.spec.dtype &&
         in.spec.shape.IsComplete() && out.spec.shape.IsComplete() &&
         in.spec.shape.num_elements() == out.spec.shape.num_elements();
}

// Which outputs are written over an input that the run owns. That pays if the result leaves the
// plan, or is handed on; elsewhere the arena is better.
void PlanMemory::ChooseTaken() {
  for (const InPlace& c : in_place_) {
    Item& in = at(c.input);
    Item& out = at(c.output);
    if (out.taken_from >= 0 || in.fetched || in.last != c.step || !CanTake(in, out)) continue;
    const auto same = [&](int read) { return WholeOf(read) == c.input; };
    if (std::count_if(c.reads.begin(), c.reads.end(), same) != 1) continue;
    out.taken_from = c.input;
    out.taken_at = c.step;
  }
  for (auto c = in_place_.rbegin(); c != in_place_.rend(); ++c) {
    Item& out = at(c->output);
    if (out.taken_from != c->input || out.taken_at != c->step) continue;
    out.wanted |= out.fetched || out.handed == out.last;
    if (!out.wanted) {
      out.taken_from = -1;
    } else if (at(c->input).taken_from >= 0) {
      at(c->input).wanted = true;
    }
  }
  for (Item& item : items_) {
    if (!item.wanted) continue;
    item.kind = Buffer::Kind::kHeld;
    item.index = num_dynamic_++;
  }
}

void PlanMemory::ListTakes(FlatPlan& plan) {
  std::vector<const Item*> taken;
  for (const Item& item : items_) {
    if (item.wanted) taken.push_back(&item);
  }
  std::stable_sort(taken.begin(), taken.end(),
                   [](const Item* a, const Item* b) { return a->taken_at < b->taken_at; });
  auto next = taken.begin();
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    plan.steps[step].take_begin = static_cast<int>(plan.takes.size());
    for (; next != taken.end() && (*next)->taken_at == static_cast<int>(step); ++next) {
      const Item& from = at((*next)->taken_from);
      const TensorSpec spec{(*next)->spec.dtype, (*next)->spec.shape, nullptr};
      plan.takes.push_back({from.kind, from.index, (*next)->index, spec});
      ++plan.counts.in_place;
    }
    plan.steps[step].take_end = static_cast<int>(plan.takes.size());
  }
}

// A loop's variable that is computed anew gets the memory that it had before the last step.
void PlanMemory::ListRecycled(FlatPlan& plan) const {
  if (!owns_feeds_) return;
  std::vector<bool> used(items_.size(), false);
  for (const Item& item : items_) {
    if (item.wanted && item.taken_from >= 0) used[static_cast<size_t>(item.taken_from)] = true;
  }
  for (size_t o = 0; o < plan.owned_outputs.size(); ++o) {
    const TensorSpec& spec = plan.owned_outputs[o];
    if (spec.dtype == DType::kString || HoldsObjects(spec.dtype)) continue;
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.kind != Buffer::Kind::kFeed || item.fetched || used[i]) continue;
      if (item.spec.dtype != spec.dtype || item.spec.shape != spec.shape) continue;
      used[i] = true;
      plan.recycled.emplace_back(item.index, static_cast<int>(o));
      break;
    }
  }
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
    const auto same = [&](int read) { return Resolve(WholeOf(read)) == target; };
    if (std::count_if(c.reads.begin(), c.reads.end(), same) != 1) continue;
    out.merged_into = target;
    in.first = std::min(in.first, out.first);  // earlier than `in` is written, if it is kept
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
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].step == nullptr) continue;
    StepArgs& args = (*dynamic++)->args();
    for (StepArg& arg : args.outputs) arg.buffer = Resolve(arg.buffer);
    for (size_t i = args.inputs.size(); i-- > 0;) {
      StepArg& arg = args.inputs[i];
      arg.buffer = Resolve(arg.buffer);
      const Item& item = items_[static_cast<size_t>(arg.buffer)];
      const bool released = item.kind == Buffer::Kind::kHeld ||
                            item.kind == Buffer::Kind::kDynamic ||
                            (item.kind == Buffer::Kind::kFeed && owns_feeds_);
      // Of a tensor that the step reads several times, the last is the last read.
      const auto same = [&](const StepArg& later) { return later.buffer == arg.buffer; };
      const auto later = args.inputs.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      // Its parts are views of it.
      const auto part = [&](const StepArg& other) {
        return IsPart(other.buffer) && Resolve(WholeOf(other.buffer)) == arg.buffer;
      };
      arg.last_read = released && !item.fetched && item.last == static_cast<int>(s) &&
                      std::none_of(later, args.inputs.end(), same) &&
                      std::none_of(args.inputs.begin(), args.inputs.end(), part);
    }
  }
}

absl::Status PlanMemory::Finish(FlatPlan& plan) {
  ChooseTaken();
  MergeInPlace(plan);
  ListTakes(plan);

  std::vector<ArenaItem> arena;
  std::vector<int> arena_buffers;
  plan.buffers.resize(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    if (item.merged_into >= 0 || item.part_of >= 0) continue;
    Buffer& buffer = plan.buffers[i];
    const bool computed = item.kind == Buffer::Kind::kArena || item.kind == Buffer::Kind::kStrings;
    if (item.fetched && computed) {
      item.kind = Buffer::Kind::kOutput;
      item.index = static_cast<int>(plan.owned_outputs.size());
      plan.owned_outputs.push_back(item.spec);
    } else if (item.kind == Buffer::Kind::kArena) {
      arena.push_back({item.bytes, item.first, item.last});
      arena_buffers.push_back(static_cast<int>(i));
      plan.arena_items.push_back({0, item.bytes, item.first, item.last, item.scratch});
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
    plan.arena_items[i].offset = layout.offsets[i];
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].part_of < 0) continue;
    plan.buffers[i] = plan.buffers[static_cast<size_t>(Resolve(items_[i].part_of))];
    plan.buffers[i].part = true;
    plan.buffers[i].part_offset = items_[i].part_offset;
  }
  plan.arena_bytes = layout.bytes;
  ListRecycled(plan);
  plan.counts.arena_bytes = layout.bytes;
  plan.num_dynamic = num_dynamic_;
  plan.held_pointers.resize(static_cast<size_t>(num_dynamic_));
  ListReleases(plan);

  for (size_t position = 0; position < plan.pointers.size(); ++position) {
    int& pointer = plan.pointers[position];
    if (pointer < 0) continue;
    pointer = Resolve(pointer);
    const Buffer& buffer = plan.buffers[static_cast<size_t>(pointer)];
    const PointerPatch patch{static_cast<int>(position), buffer.index, buffer.part_offset};
    if (buffer.kind == Buffer::Kind::kFeed) plan.feed_pointers.push_back(patch);
    if (buffer.kind == Buffer::Kind::kOutput) plan.output_pointers.push_back(patch);
    if (buffer.kind == Buffer::Kind::kHeld) {
      plan.held_pointers[static_cast<size_t>(buffer.index)].push_back(patch);
    }
  }
  ResolveArgs(plan);
  std::vector<bool> seen(items_.size(), false);
  for (auto output = plan.outputs.rbegin(); output != plan.outputs.rend(); ++output) {
    output->buffer = Resolve(output->buffer);
    output->last = !seen[static_cast<size_t>(output->buffer)];
    seen[static_cast<size_t>(output->buffer)] = true;
  }
  return absl::OkStatus();
}

}  // namespace tenon
