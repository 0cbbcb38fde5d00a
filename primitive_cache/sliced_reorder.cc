// Reorders. oneDNN's compiled one allocates inside its parallel loop, on each thread, and an
// exception that leaves a parallel loop ends the process. So it only runs on one thread; to use
// more, each reorders a slice of the memory.
#include <algorithm>
#include <atomic>
#include <numeric>

#include "env/team.h"
#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

using dnnl::memory;

constexpr absl::string_view kCompiled = "jit:uni";
// Bytes that take one thread no longer than a parallel loop takes to start.
constexpr size_t kSmall = 64 << 10;

struct Slice {
  std::shared_ptr<const Primitive> reorder;
  int64_t from = 0, to = 0;  // in bytes
};

class SlicedReorder final : public Primitive {
 public:
  SlicedReorder(std::vector<Slice> slices, int threads)
      : slices_(std::move(slices)), threads_(threads) {}

  absl::Status Execute(absl::Span<void* const> pointers, void*) const override {
    if (pointers.size() != 2) return Internal("a reorder takes two arguments");
    const auto run = [&](const Slice& s) {
      return CatchExceptions([&] {
        return s.reorder->Execute(
            {static_cast<char*>(pointers[0]) + s.from, static_cast<char*>(pointers[1]) + s.to},
            nullptr);
      });
    };
    absl::Status first;
    std::atomic_flag failed;
    RunTeam(threads_, [&](int member, int team) {
      for (size_t i = static_cast<size_t>(member); i < slices_.size();
           i += static_cast<size_t>(team)) {
        absl::Status status = run(slices_[i]);
        if (!status.ok() && !failed.test_and_set()) first = std::move(status);
      }
    });
    return first;
  }

  size_t scratch_bytes() const override { return 0; }
  const std::string& implementation() const override {
    return slices_.front().reorder->implementation();
  }
  std::shared_ptr<const PackedLayout> weights_layout() const override { return nullptr; }
  size_t bytes() const override {
    const bool two = slices_.front().reorder != slices_.back().reorder;
    return slices_.front().reorder->bytes() * (two ? 2 : 1);
  }

 private:
  const std::vector<Slice> slices_;
  const int threads_;
};

// The elements of one inner block along each axis.
memory::dims BlockSizes(const onednn::Blocks& b) {
  memory::dims sizes(b.dims.size(), 1);
  for (size_t i = 0; i < b.sizes.size(); ++i) sizes[static_cast<size_t>(b.axes[i])] *= b.sizes[i];
  return sizes;
}

dnnl::reorder::primitive_desc Describe(const memory::desc& from, const memory::desc& to) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {CpuEngine(), from, CpuEngine(), to, attr};
}

std::shared_ptr<const Primitive> Make(const memory::desc& from, const memory::desc& to,
                                      const dnnl::reorder::primitive_desc& pd, int threads) {
  PrimitiveParts parts;
  parts.primitive = dnnl::reorder(pd);
  parts.arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  parts.scratchpad = pd.scratchpad_desc();
  parts.implementation = pd.impl_info_str();
  parts.threads = threads;
  return WrapPrimitive(std::move(parts));
}
std::shared_ptr<const Primitive> OnOneThread(const memory::desc& from, const memory::desc& to) {
  const ThreadScope one(1);
  return Make(from, to, Describe(from, to), 1);
}

// Up to `threads` slices along one axis, all of one size but the last; fewer than 2 if the layouts
// have no such axis.
std::vector<Slice> Slices(const memory::desc& from, const memory::desc& to, int threads) {
  const auto a = onednn::BlocksOf(from), b = onednn::BlocksOf(to);
  if (!a || !b || !a->whole || !b->whole) return {};
  const memory::dims a_sizes = BlockSizes(*a), b_sizes = BlockSizes(*b), dims = b->dims;
  std::vector<size_t> axes(dims.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::stable_sort(axes.begin(), axes.end(),
                   [&b](size_t i, size_t j) { return b->strides[i] > b->strides[j]; });
  // The outermost axis that has a unit for each thread, else the one with the most.
  size_t axis = 0;
  int64_t unit = 1, units = 0;
  for (const size_t i : axes) {
    const int64_t size = std::lcm(a_sizes[i], b_sizes[i]), n = (dims[i] + size - 1) / size;
    if (n > units) axis = i, unit = size, units = n;
    if (units >= threads) break;
  }
  const int64_t length = (units + threads - 1) / threads * unit, all = dims[axis];
  const auto offset = [axis](const onednn::Blocks& blocks, int64_t size, int64_t element) {
    return element / size * blocks.strides[axis] *
           static_cast<int64_t>(memory::data_type_size(blocks.type));
  };
  const auto part = [&](const memory::desc& whole, int64_t begin) {
    memory::dims sizes = dims, at(dims.size(), 0);
    sizes[axis] = std::min(length, all - begin);
    at[axis] = begin;
    return whole.submemory_desc(sizes, at);
  };
  const bool padded = a->padded_dims[axis] != all || b->padded_dims[axis] != all;
  std::vector<Slice> slices;
  for (int64_t begin = 0; begin < all; begin += length) {
    const bool same = begin > 0 && begin + length <= all && !(padded && begin + length == all);
    if (same) {
      slices.push_back({slices.front().reorder, offset(*a, a_sizes[axis], begin),
                        offset(*b, b_sizes[axis], begin)});
    } else {  // the descriptors hold the offset
      slices.push_back({OnOneThread(part(from, begin), part(to, begin))});
      if (slices.back().reorder->scratch_bytes() != 0) return {};
    }
  }
  return slices;
}

}  // namespace

std::shared_ptr<const Primitive> MakeReorder(const memory::desc& from, const memory::desc& to,
                                             int threads) {
  const ThreadScope scope(threads);
  const dnnl::reorder::primitive_desc pd = Describe(from, to);
  if (threads == 1 || pd.impl_info_str() != kCompiled) return Make(from, to, pd, threads);
  if (from.get_size() + to.get_size() >= kSmall) {
    std::vector<Slice> slices = Slices(from, to, threads);
    if (slices.size() >= 2) return std::make_shared<SlicedReorder>(std::move(slices), threads);
  }
  return OnOneThread(from, to);
}

}  // namespace tenon
