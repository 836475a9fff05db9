#include "schedulers/muster/first_places.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace muster::own {
namespace {

/// What placing a task on a host would gain, when the host was so old.
struct Candidate {
  double gain_usd_h = 0;
  std::uint32_t host = 0;
  std::uint32_t version = 0;

  /// The greatest gain on top, and of equals the first host.
  bool operator<(const Candidate& other) const {
    if (gain_usd_h != other.gain_usd_h) return gain_usd_h < other.gain_usd_h;
    return host > other.host;
  }
};

/// Places equal tasks one after the other. Each host is looked at once, and again only after it
/// has changed.
class Placer {
 public:
  Placer(RoundLayout& layout, std::uint32_t task) : layout_(layout), first_(task) {
    for (std::uint32_t host = 0; host < layout.hosts().size(); ++host) look_at(host);
    const Piece* alone[] = {&layout.piece(task)};
    fresh_ = best_new(layout.model(), alone);
  }

  /// Puts the task where it gains most. False: it is worth nothing anywhere, or there is no place.
  bool place(std::uint32_t task) {
    const bool may_wait = layout_.piece(task).may_wait && layout_.piece(task).gang == kNoGang;
    while (!best_.empty() && is_stale(best_.top())) best_.pop();
    const bool joins = !best_.empty() && (!may_wait || best_.top().gain_usd_h > 0) &&
                       (!fresh_ || best_.top().gain_usd_h >= fresh_->value_usd_h);
    if (joins) {
      const std::uint32_t host = best_.top().host;
      layout_.add(task, host);
      look_at(host);
      return true;
    }
    if (!fresh_ || (may_wait && fresh_->value_usd_h <= 0)) return false;
    const std::uint32_t host = layout_.add_new(fresh_->type);
    layout_.add(task, host);
    look_at(host);
    return true;
  }

 private:
  void look_at(std::uint32_t host) {
    const RoundLayout::Working& working = layout_.host(host);
    if (working.gone) return;
    const std::optional<double> gain = layout_.gain_by(first_, host);
    if (gain) best_.push({*gain, host, working.version});
  }
  bool is_stale(const Candidate& candidate) const {
    const RoundLayout::Working& working = layout_.host(candidate.host);
    return working.gone || working.version != candidate.version;
  }

  RoundLayout& layout_;
  std::uint32_t first_;
  std::priority_queue<Candidate> best_;
  std::optional<NewHost> fresh_;
};

/// What the whole is worth with all tasks of the gang placed one by one; nothing when there is not
/// a place for all, and then none has one.
std::optional<double> place_all(RoundLayout& layout, std::span<const std::uint32_t> tasks,
                                GangLoss loss) {
  layout.reckon(loss);
  std::size_t placed = 0;
  while (placed < tasks.size() && Placer(layout, tasks[placed]).place(tasks[placed])) ++placed;
  if (placed == tasks.size()) return layout.value_usd_h();
  while (placed > 0) layout.take_off(tasks[--placed]);
  return std::nullopt;
}

/// Places all tasks of a gang, or none: then, or when the whole is worth less with it and it may
/// wait, it waits. Where the tasks are told apart by what all of the gang loses they keep to
/// themselves, where by what each of them loses they join others: the better one counts.
void place_gang(RoundLayout& layout, std::span<const std::uint32_t> tasks) {
  const double before = layout.value_usd_h();
  const auto take_off = [&] {
    for (const std::uint32_t task : tasks) layout.take_off(task);
  };
  const std::optional<double> joining = place_all(layout, tasks, GangLoss::own);
  if (joining) take_off();
  std::optional<double> value = place_all(layout, tasks, GangLoss::job_wide);
  if (joining && (!value || *joining > *value)) {
    if (value) take_off();
    value = place_all(layout, tasks, GangLoss::own);
  }
  layout.reckon(GangLoss::job_wide);
  const bool may_wait = layout.piece(tasks.front()).may_wait;
  if (value && may_wait && *value <= before) take_off();
}

}  // namespace

void place_waiting(const RoundParts& parts, RoundLayout& layout) {
  const std::span<const RoundInput::Task> tasks = parts.input.tasks();
  // What makes two tasks equal to all hosts: they have the same place in the order, but for ties.
  const auto kind = [&](std::uint32_t task) {
    Piece piece = layout.piece(task);
    if (piece.gang != kNoGang) {
      // All of a gang stands together.
      const double tasks_of_it = static_cast<double>(layout.together(task).size());
      piece.value_usd_h = piece.gang_usd_h / tasks_of_it;
      piece.shape = {};
      piece.cls = {};
    }
    return std::tuple(-parts.input.jobs()[tasks[task].job].priority, -piece.value_usd_h, piece.gang,
                      piece.shape.value, piece.cls.value, piece.start_h, piece.may_wait);
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].home == kUnassigned && tasks[i].movable) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return kind(a) < kind(b); });
  for (std::size_t i = 0; i < order.size();) {
    const std::uint32_t first = order[i];
    if (layout.piece(first).gang != kNoGang) {
      const std::span<const std::uint32_t> all = layout.together(first);
      place_gang(layout, all);
      i += all.size();
      continue;
    }
    Placer placer(layout, first);
    for (; i < order.size() && kind(order[i]) == kind(first); ++i) placer.place(order[i]);
  }
}

}  // namespace muster::own
