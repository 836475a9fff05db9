// The search of a round: which hosts and waiting tasks are repartitioned together. How a
// repartition is found is Repartition's, what it changes RoundLayout's.

#include "schedulers/muster/round.hpp"

#include <algorithm>
#include <climits>
#include <limits>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/muster/empty_host.hpp"
#include "schedulers/muster/first_places.hpp"
#include "schedulers/muster/pack_new.hpp"

namespace muster::own {
namespace {

/// Passes over the pairs of a round. Most rounds end after two or three, since a pass looks only at
/// what the one before has changed.
constexpr int kMostPasses = 20;
/// Of more instances than that an instance is paired only with those that have most to gain, since
/// pairs grow with the square.
constexpr std::size_t kAllPairs = 100;
constexpr std::size_t kMostNeighbours = 20;
/// Waiting tasks that are tried with every instance and with each other.
constexpr std::size_t kMostWaitingTried = 50;
/// Number of looks at one task beside another that cost about as much as a step of a repartition.
constexpr std::uint64_t kLooksOfStep = 4;
constexpr std::uint64_t kPartsOfFirst = 4;
/// For each such number of tasks a round takes its steps once more: instances that it does not look
/// at stay as badly packed as they are.
constexpr std::uint64_t kTasksOfSteps = 768;
/// Tasks that are packed together, since packing looks at all that are left for each instance.
constexpr std::size_t kMostPacked = 512;
/// Weight with which an instance is drawn for a triple that is worth a tenth more than its price or
/// better; one that is worth less is drawn more often.
constexpr double kLeastWeight = 0.05;
constexpr double kEvenWeight = 0.1;

/// Worth that a partition has to exceed.
double least_usd_h(const RoundLayout::Excerpt& excerpt) {
  return excerpt.before_usd_h + kLeastGain * excerpt.weight_usd_h;
}

}  // namespace

Round::Round(const RoundParts& parts, Rng& rng, Budget& budget)
    : p_(parts), rng_(rng), budget_(budget), layout_(parts), repartition_(layout_.model()) {}

void Round::run() {
  most_steps_ = p_.params.steps * (1 + p_.input.tasks().size() / kTasksOfSteps);
  count_looks(place_waiting(p_, layout_, most_first_looks()));
  pack_new_hosts();
  greedy_value_usd_h_ = value_usd_h();
  // Where moves were refused they would be again: plans that only start tasks go first.
  if (p_.memory.was_refused()) return;
  list_waiting();
  improve();
}

/// A quarter of what the round may take: the rest is for packing and for repartitions.
std::uint64_t Round::most_first_looks() const {
  if (is_spent()) return 0;
  const std::uint64_t steps =
      budget_.allowed() > 0 ? budget_.allowed() - budget_.used() : most_steps_;
  return steps > 0 ? steps / kPartsOfFirst * kLooksOfStep
                   : std::numeric_limits<std::uint64_t>::max();
}

void Round::count_looks(std::uint64_t looks) {
  const std::uint64_t before = looks_ / kLooksOfStep;
  looks_ += looks;
  budget_.spend(looks_ / kLooksOfStep - before);
}

/// First places rent for one task after the other. Where they have rented more than one instance,
/// packing all of those tasks anew may be worth more.
void Round::pack_new_hosts() {
  const auto is_packed = [&](std::uint32_t host) {
    const RoundLayout::Working& working = layout_.host(host);
    return !working.gone && working.present == kUnassigned &&
           std::all_of(working.tasks.begin(), working.tasks.end(),
                       [&](std::uint32_t task) { return layout_.piece(task).gang == kNoGang; });
  };
  // One by one they never pay for an instance that pays when it is full.
  Tasks waiting = this->waiting();
  std::erase_if(waiting, [&](std::uint32_t task) {
    return layout_.piece(task).gang != kNoGang || !layout_.may_wait(task);
  });
  std::size_t waits = 0;
  const auto end = static_cast<std::uint32_t>(layout_.hosts().size());
  for (std::uint32_t next = 0; (next < end || waits < waiting.size()) && !is_spent();) {
    std::vector<std::uint32_t> hosts;
    Tasks tasks;
    for (; next < end && tasks.size() < kMostPacked; ++next) {
      if (!is_packed(next)) continue;
      hosts.push_back(next);
      const std::vector<std::uint32_t>& of = layout_.host(next).tasks;
      tasks.insert(tasks.end(), of.begin(), of.end());
    }
    const std::size_t first = waits;
    while (waits < waiting.size() && tasks.size() < kMostPacked) tasks.push_back(waiting[waits++]);
    if (hosts.size() + (waits - first) < 2) continue;
    const RoundLayout::Excerpt excerpt = layout_.excerpt(hosts, tasks);
    const Packing found = pack_new(layout_.model(), excerpt.pieces);
    count_looks(found.looks);
    if (found.partition.value_usd_h > least_usd_h(excerpt)) {
      layout_.adopt(excerpt, found.partition);
    }
  }
}

/// Those of most value first.
void Round::list_waiting() {
  waiting_ = waiting();
  listed_.assign(p_.input.tasks().size(), 0);
  for (const std::uint32_t task : waiting_) listed_[task] = 1;
  std::stable_sort(waiting_.begin(), waiting_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return layout_.piece(a).value_usd_h > layout_.piece(b).value_usd_h;
  });
}

std::vector<std::uint32_t> Round::waiting() const {
  std::vector<std::uint32_t> found;
  const std::span<const RoundInput::Task> tasks = p_.input.tasks();
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].movable && layout_.host_of(i) == kUnassigned) found.push_back(i);
  }
  return found;
}

bool Round::is_on_offer(std::uint32_t task) const {
  const Piece& piece = layout_.piece(task);
  const std::span<const Host> offers = layout_.model().offers;
  return std::any_of(offers.begin(), offers.end(), [&](const Host& offer) {
    return p_.prices.mask().allows(piece.asks(), offer.kind());
  });
}

std::uint64_t Round::steps() const {
  return repartition_.steps() + looks_ / kLooksOfStep;
}

bool Round::is_unfinished() const {
  return is_spent() || p_.memory.was_refused();
}

/// A deadline of the master's counts alone; the policy's own bound is for replays without one.
bool Round::is_spent() const {
  if (budget_.allowed() > 0) return budget_.is_spent();
  return most_steps_ > 0 && steps() >= most_steps_;
}

void Round::improve() {
  for (int pass = 0; pass < kMostPasses && !is_spent(); ++pass) {
    list_poorest();
    bool changed = improve_gangs();
    changed |= empty_hosts();
    changed |= improve_with_pairs();
    changed |= p_.params.patient && improve_waiting();
    if (pass == 0 || !changed) changed |= improve_with_triples();
    if (!changed) return;
  }
}

/// Where there are too many pairs, the hosts that any other is tried with: they are worth least for
/// their price.
void Round::list_poorest() {
  poorest_.clear();
  for (std::uint32_t i = 0; i < layout_.hosts().size(); ++i) {
    if (layout_.is_open(i)) poorest_.push_back(i);
  }
  tries_all_ = poorest_.size() <= kAllPairs;
  if (tries_all_) return;
  std::vector<double> worth(layout_.hosts().size());
  for (const std::uint32_t host : poorest_) worth[host] = layout_.value_for_price(host);
  // Twice as many as are tried, since some of them will be gone by then.
  const std::size_t kept = 2 * kMostNeighbours;
  std::partial_sort(poorest_.begin(), poorest_.begin() + kept, poorest_.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return worth[a] != worth[b] ? worth[a] < worth[b] : a < b;
                    });
  poorest_.resize(kept);
}

/// The hosts that one is tried with: all, or the poorest ones.
std::vector<std::uint32_t> Round::neighbours_of(std::uint32_t host) const {
  std::vector<std::uint32_t> found;
  const std::size_t most = tries_all_ ? layout_.hosts().size() : kMostNeighbours;
  const auto take = [&](std::uint32_t other) {
    if (other != host && layout_.is_open(other) && found.size() < most) found.push_back(other);
  };
  if (!tries_all_) {
    for (const std::uint32_t other : poorest_) take(other);
    return found;
  }
  for (std::uint32_t other = 0; other < layout_.hosts().size(); ++other) take(other);
  return found;
}

Round::Tasks Round::any_waiting() {
  while (!waiting_.empty()) {
    const std::size_t drawn = rng_.below(waiting_.size());
    const std::uint32_t task = waiting_[drawn];
    if (layout_.host_of(task) == kUnassigned) {
      const auto all = layout_.together(waiting_[drawn]);
      return {all.begin(), all.end()};
    }
    listed_[task] = 0;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(drawn));
  }
  return {};
}

/// Gangs whose hosts have changed, each on its own and with each other one: a gang gains by being
/// slowed beside another only when all of its tasks are.
bool Round::improve_gangs() {
  bool changed = false;
  const auto gangs = layout_.gangs();
  const auto hosts_of_both = [&](std::uint32_t gang, std::uint32_t other) {
    std::vector<std::uint32_t> hosts = layout_.hosts_of_gang(gang);
    for (const std::uint32_t host : layout_.hosts_of_gang(other)) {
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
    }
    return hosts;
  };
  for (std::uint32_t gang = 0; gang < gangs.size(); ++gang) {
    const std::vector<std::uint32_t> own = layout_.hosts_of_gang(gang);
    const bool dirty = std::any_of(own.begin(), own.end(),
                                   [&](std::uint32_t host) { return layout_.host(host).dirty; });
    if (!gangs[gang].movable || !dirty) continue;
    std::size_t tried = 0;
    for (std::uint32_t other = 0; other < gangs.size() && tried < kMostNeighbours; ++other) {
      if (is_spent()) return changed;
      if (!gangs[other].movable) continue;
      const std::vector<std::uint32_t> hosts = hosts_of_both(gang, other);
      ++tried;
      // Pairs of hosts are looked at anyway.
      if (hosts.size() > 2) changed |= attempt(hosts, {});
    }
  }
  return changed;
}

/// Moves all of a host elsewhere where that gains something, which is cheap to find out: before
/// all else, since what is left to the searches is less then.
bool Round::empty_hosts() {
  bool changed = false;
  for (std::uint32_t host = 0; host < layout_.hosts().size(); ++host) {
    if (is_spent()) return changed;
    if (!layout_.is_open(host) || !layout_.host(host).dirty) continue;
    const Emptied done = empty_host(layout_, host, neighbours_of(host));
    count_looks(done.looks);
    if (!done.is_better) continue;
    ++adopted_;
    changed = true;
  }
  return changed;
}

bool Round::improve_with_pairs() {
  bool changed = false;
  for (std::uint32_t a = 0; a < layout_.hosts().size(); ++a) {
    if (is_spent()) return changed;
    if (!layout_.is_open(a) || !layout_.host(a).dirty) continue;
    layout_.set_dirty(a, false);
    const std::uint32_t alone[] = {a};
    changed |= attempt(alone, {});
    if (!layout_.is_open(a)) continue;
    for (const std::uint32_t b : neighbours_of(a)) {
      if (is_spent()) return changed;
      if (!layout_.is_open(b)) continue;
      const std::uint32_t pair[] = {a, b};
      changed |= attempt(pair, any_waiting());
      if (!layout_.is_open(a)) break;
    }
  }
  return changed;
}

bool Round::improve_waiting() {
  bool changed = false;
  const Tasks tried(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                             waiting_.size(), kMostWaitingTried)));
  const auto waits = [&](std::uint32_t task) { return layout_.host_of(task) == kUnassigned; };
  const std::vector<std::uint32_t> neighbours = neighbours_of(kUnassigned);
  for (const std::uint32_t& task : tried) {
    const auto all = layout_.together(task);
    if (all.front() != task || all.size() > p_.params.max_tasks) continue;
    for (const std::uint32_t b : neighbours) {
      if (is_spent()) return changed;
      if (!waits(task)) break;
      const std::uint32_t alone[] = {b};
      if (layout_.is_open(b)) changed |= attempt(alone, Tasks(all.begin(), all.end()));
    }
    for (const std::uint32_t& other : tried) {
      if (other <= task || !waits(task) || !waits(other)) continue;
      const auto more = layout_.together(other);
      if (more.front() != other || all.data() == more.data()) continue;  // once a gang
      Tasks both(all.begin(), all.end());
      both.insert(both.end(), more.begin(), more.end());
      changed |= attempt({}, both);
    }
  }
  return changed;
}

/// Instances that changed every second time, others by how little they are worth.
std::uint32_t Round::draw_host(bool dirty) {
  std::vector<std::uint32_t> open;
  std::vector<double> weights;
  double sum = 0;
  for (std::uint32_t i = 0; i < layout_.hosts().size(); ++i) {
    const RoundLayout::Working& host = layout_.host(i);
    const bool fresh = host.present == kUnassigned;
    if (!layout_.is_open(i) || (host.tasks.empty() && fresh)) continue;
    if (dirty && !host.dirty && !fresh) continue;
    open.push_back(i);
    weights.push_back(std::max(kLeastWeight, kEvenWeight - layout_.value_for_price(i)));
    sum += weights.back();
  }
  if (open.empty()) return kUnassigned;
  double drawn = rng_.uniform() * sum;
  for (std::size_t i = 0; i + 1 < open.size(); ++i) {
    drawn -= weights[i];
    if (drawn < 0) return open[i];
  }
  return open.back();
}

bool Round::improve_with_triples() {
  bool changed = false;
  for (std::uint32_t i = 0; i < p_.params.triples && !is_spent(); ++i) {
    std::uint32_t first = draw_host(i % 2 == 0);
    if (first == kUnassigned) first = draw_host(false);
    const std::uint32_t second = draw_host(false);
    const std::uint32_t third = draw_host(false);
    if (first == kUnassigned || first == second || first == third || second == third) continue;
    const std::uint32_t three[] = {first, second, third};
    changed |= attempt(three, any_waiting());
  }
  return changed;
}

/// The tasks of the hosts that are shared out anew: all, or some of the present ones where they are
/// too many, so that a crowded instance can still give a task away. A task that has a place keeps
/// it where others of lower priority are looked at. Empty when no tasks can be.
Round::Tasks Round::choose_moved(std::span<const std::uint32_t> hosts,
                                 std::span<const std::uint32_t> waiting) {
  Tasks moved;
  Tasks rest;
  int lowest = INT_MAX;
  for (const std::uint32_t number : hosts) {
    const RoundLayout::Working& host = layout_.host(number);
    for (const std::uint32_t task : host.tasks) lowest = std::min(lowest, layout_.priority(task));
  }
  for (const std::uint32_t task : waiting) lowest = std::min(lowest, layout_.priority(task));
  for (const std::uint32_t number : hosts) {
    const RoundLayout::Working& host = layout_.host(number);
    for (const std::uint32_t task : host.tasks) {
      if (host.present == kUnassigned) {
        moved.push_back(task);
      } else if (layout_.priority(task) == lowest || layout_.is_displaced(task)) {
        rest.push_back(task);
      }
    }
  }
  if (waiting.size() > p_.params.max_tasks) return {};
  const std::size_t most = p_.params.max_tasks - waiting.size();
  if (moved.size() > most) return {};
  while (!rest.empty() && moved.size() < most) {
    const std::size_t left = most - moved.size();
    const std::size_t next = rest.size() > left ? rng_.below(rest.size()) : 0;
    moved.push_back(rest[next]);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return moved;
}

/// Has all tasks of an instance stay there that would leave it together for a new one of its own
/// offering. While that comes nothing is paid and nothing done; but the work is only put off, and
/// costs as much then. Answers whether there are such.
bool Round::take_back_renewals(const RoundLayout::Excerpt& excerpt, Partition& found) const {
  const auto hosts = static_cast<std::uint32_t>(excerpt.hosts.size());
  bool any = false;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    std::uint32_t to = Partition::kWaits;
    bool together = excerpt.given[host].fixed.empty();
    for (std::size_t i = 0; i < excerpt.pieces.size(); ++i) {
      if (excerpt.pieces[i].home == host && to == Partition::kWaits) to = found.host_of[i];
    }
    if (!together || to == Partition::kWaits || to < hosts) continue;
    for (std::size_t i = 0; i < excerpt.pieces.size(); ++i) {
      together &= (found.host_of[i] == to) == (excerpt.pieces[i].home == host);
      together &= found.host_of[i] != host;
    }
    const auto fresh = found.new_hosts.begin() + (to - hosts);
    if (!together || !renews(layout_, excerpt.hosts[host], *fresh)) continue;
    found.new_hosts.erase(fresh);
    for (std::uint32_t& at : found.host_of) {
      if (at == to) at = host;
      if (at != Partition::kWaits && at > to) --at;
    }
    any = true;
  }
  return any;
}

/// Shares the tasks of the hosts and the waiting ones out anew, if that gains something.
bool Round::attempt(std::span<const std::uint32_t> hosts, const Tasks& waiting) {
  Tasks moved = choose_moved(hosts, waiting);
  if (moved.empty() && !hosts.empty()) return false;
  moved.insert(moved.end(), waiting.begin(), waiting.end());
  if (moved.empty() || moved.size() > p_.params.max_tasks) return false;
  const RoundLayout::Excerpt excerpt = layout_.excerpt(hosts, moved);
  const double least = least_usd_h(excerpt);
  const std::uint64_t steps = repartition_.steps();
  const Partition& best = repartition_.run(excerpt.given, excerpt.pieces, excerpt.gangs, least);
  budget_.spend(repartition_.steps() - steps);
  if (!(best.value_usd_h > least)) return false;
  Partition found = best;
  if (take_back_renewals(excerpt, found)) {
    const auto value =
        value_of(layout_.model(), excerpt.given, excerpt.pieces, excerpt.gangs, found);
    if (!value || !(*value > least)) return false;
  }
  ++adopted_;
  for (std::size_t i = 0; i < excerpt.tasks.size(); ++i) {
    const std::uint32_t task = excerpt.tasks[i];
    if (found.host_of[i] != Partition::kWaits || listed_[task] != 0) continue;
    listed_[task] = 1;
    waiting_.push_back(task);
  }
  layout_.adopt(excerpt, found);
  return true;
}

}  // namespace muster::own
