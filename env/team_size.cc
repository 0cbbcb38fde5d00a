#include "env/team_size.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon {
namespace {

constexpr double kWatchedRuns = 0.025;  // seconds of runs between two looks
constexpr double kStale = 1;            // after so long, another thread's runs are watched
constexpr int kCrowdedIntervals = 2;    // in a row, before the team becomes smaller
constexpr double kPatience = 0.25, kMostPatience = 4;
// A thread that wanted a CPU for less than this part of the runs' time says nothing.
constexpr double kLeastPart = 0.1;
constexpr double kFasterBy = 1.15;  // what makes a smaller team worth it

}  // namespace

int BestTeamSize(double busy, absl::Span<const ThreadTimes> members) {
  double sum = 0, least = 1;
  for (const ThreadTimes& t : members) {
    const double wanted = t.ran + t.waited;
    const double share = wanted < kLeastPart * busy ? 1 : t.ran / wanted;
    sum += share;
    least = std::min(least, share);
  }
  const int all = static_cast<int>(members.size());
  const int fewer = std::clamp(static_cast<int>(sum + 0.1), 1, std::max(all, 1));
  // The members do not get their shares at the same time, so they also wait for each other.
  const double speed_of_all = all * std::pow(least, 1.5);
  return fewer > kFasterBy * speed_of_all ? fewer : all;
}

void TeamSizeRule::Decide(double now, double busy, absl::Span<const ThreadTimes> members) {
  const int best = BestTeamSize(busy, members);
  if (threads_ < most_) {  // a part of a team that has proved too large
    threads_ = best;
    return;
  }
  if (best == most_) {
    crowded_ = 0;
    if (now - all_after_ > patience_) patience_ = 0;  // it has been quiet as long as it was not
    return;
  }
  if (++crowded_ < kCrowdedIntervals) return;
  threads_ = best;
  patience_ = std::clamp(2 * patience_, kPatience, kMostPatience);
  all_after_ = now + patience_;
}

bool TeamSizeRule::TryAll(double now) {
  if (threads_ == most_ || now < all_after_) return false;
  threads_ = most_;
  crowded_ = kCrowdedIntervals - 1;
  return true;
}

TeamSize::TeamSize(int most, bool fixed)
    : most_(most),
      rule_(most),
      before_(static_cast<size_t>(most)),
      now_(static_cast<size_t>(most)),
      watching_(most > 1 && !fixed),
      threads_(most) {}

void TeamSize::Begin(int threads, double now) {
  interval_ = Interval{std::this_thread::get_id(), threads, now, 0};
  if (!ReadTeamTimes(absl::MakeSpan(before_).first(static_cast<size_t>(threads)))) Fix();
}

void TeamSize::Count(int threads, double now, double elapsed) {
  if (!watching()) return;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // one of several concurrent runs is enough
  if (rule_.TryAll(now)) {
    threads_.store(most_, std::memory_order_relaxed);
    return Begin(most_, now);
  }
  if (threads <= 1) return;
  if (interval_.threads != threads) return Begin(threads, now);
  if (interval_.caller != std::this_thread::get_id()) {
    if (now - interval_.began > kStale) Begin(threads, now);
    return;
  }
  interval_.busy += elapsed;
  if (interval_.busy < kWatchedRuns) return;
  const absl::Span<ThreadTimes> team = absl::MakeSpan(now_).first(static_cast<size_t>(threads));
  if (!ReadTeamTimes(team)) return Fix();
  bool same = true;
  for (size_t i = 0; i < team.size(); ++i) {
    const ThreadTimes at_end = team[i], at_begin = std::exchange(before_[i], at_end);
    same &= at_end.thread == at_begin.thread;
    team[i].ran -= at_begin.ran;
    team[i].waited -= at_begin.waited;
  }
  const double busy = std::exchange(interval_.busy, 0);
  interval_.began = now;
  if (!same) return;
  rule_.Decide(now, busy, team);
  threads_.store(rule_.threads(), std::memory_order_relaxed);
}

void TeamSize::Fix() {
  watching_.store(false, std::memory_order_relaxed);
  threads_.store(most_, std::memory_order_relaxed);
}

}  // namespace tenon
