#include "schedulers/muster/round.hpp"

#include <algorithm>
#include <cmath>

namespace muster::own {
namespace {

/// Passes over what changed; each takes what the one before has left dirty.
constexpr int kMostPasses = 20;
/// Up to so many instances each is tried with each; above it only with those that have most to
/// gain, since pairs grow with the square.
constexpr std::size_t kAllPairs = 100;
constexpr std::size_t kMostNeighbours = 20;
/// Waiting tasks that are tried with every instance and with each other.
constexpr std::size_t kMostWaitingTried = 50;
/// A gain below this share of what the pieces are worth is a rounding error.
constexpr double kLeastGain = 1e-9;
/// Weight with which an instance is drawn for a triple that is worth a tenth more than its price or
/// better; one that is worth less is drawn more often.
constexpr double kLeastWeight = 0.05;
constexpr double kEvenWeight = 0.1;

}  // namespace

Round::Round(const RoundParts& parts, Rng& rng, Budget& budget)
    : p_(parts),
      rng_(rng),
      budget_(budget),
      model_{parts.prices, parts.rates, to_hours(parts.params.horizon), {}},
      repartition_(model_) {
  for (std::uint32_t i = 0; i < parts.prices.types().size(); ++i) {
    unavailable_.push_back(parts.input.rests(TypeId{i}) ? 1 : 0);
  }
  model_.unavailable = unavailable_;
  gather_pieces();
  gather_hosts();
}

/// A task may wait as long as its share of its age is not used up, so that new jobs start at once
/// and long ones pause for a small part of their lives.
bool Round::may_wait(const RoundInput::Task& task) const {
  if (!p_.params.patient) return false;
  const JobRow& job = p_.view.state.job(p_.input.jobs()[task.job].slot);
  if (is_gang(job)) return false;
  const double age_s = to_seconds(p_.view.now - job.accepted_at);
  const double most_s = to_seconds(p_.params.free_wait) + p_.params.wait_share * age_s;
  return to_seconds(p_.memory.waited(task.id, p_.view.now)) <= most_s;
}

/// The tasks of a gang stay where they are: moving one would stop all of them.
bool Round::may_move(std::uint32_t task) const {
  const RoundInput::Task& one = p_.input.tasks()[task];
  return one.movable && !is_gang(p_.view.state.job(p_.input.jobs()[one.job].slot));
}

void Round::gather_pieces() {
  for (const RoundInput::Task& task : p_.input.tasks()) {
    const TaskRow& row = p_.view.state.task(task.slot);
    const Delays& delays = p_.view.state.spec(row).delays;
    Piece piece;
    piece.shape = row.shape;
    piece.cls = row.cls;
    const double work_usd_h = p_.work.of(row.shape, p_.view.state, p_.prices);
    piece.value_usd_h = work_usd_h * (1 + p_.params.theta) + p_.params.theta_usd_h;
    piece.home = task.home;
    piece.start_h = to_hours(delays.fetch + delays.build + delays.init);
    if (row.phase == TaskPhase::running) piece.leave_h = to_hours(delays.stop + delays.upload);
    piece.may_wait = may_wait(task);
    pieces_.push_back(piece);
  }
}

/// Instances in the order of request, each with what stays on it and what may be moved.
void Round::gather_hosts() {
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    const InstanceType& type = p_.view.catalog[instance.type];
    Working working;
    working.host = {instance.type, instance.price_usd_h, 0, {}};
    working.present = i;
    working.pinned = instance.pinned;
    working.dirty = p_.memory.is_dirty(instance.id);
    if (!instance.ready) {
      const InstanceRow& row = p_.view.state.instance(instance.slot);
      const Instant due = (row.up ? row.up_at : row.requested_at + type.acquire) + type.setup;
      working.host.left_h = std::max(0.0, to_hours(due - p_.view.now));
    }
    for (std::uint32_t task : p_.input.residents(instance)) {
      if (may_move(task)) {
        working.tasks.push_back(task);
      } else {
        working.host.fixed.push_back(pieces_[task]);
      }
    }
    // One without tasks is worth 0, and the layout leaves it out unless something is put there.
    revalue(working);
    hosts_.push_back(std::move(working));
  }
}

std::vector<const Piece*> Round::pieces_of(std::span<const std::uint32_t> tasks) const {
  std::vector<const Piece*> found;
  found.reserve(tasks.size());
  for (std::uint32_t task : tasks) found.push_back(&pieces_[task]);
  return found;
}

/// Values an instance anew after its tasks have changed; one to be rented gets the best offering
/// for them.
void Round::revalue(Working& working) const {
  const std::vector<const Piece*> pieces = pieces_of(working.tasks);
  if (working.present != kUnassigned) {
    working.value_usd_h = value_on(model_, working.host, pieces, working.present).value_or(0);
    return;
  }
  const std::optional<NewHost> best = best_new(model_, pieces);
  if (best) working.host.type = best->type;
  working.value_usd_h = best ? best->value_usd_h : 0;
}

/// Value of an instance as a share of its price: the less, the more there is to gain.
double Round::value_for_price(std::uint32_t host) const {
  const double price = p_.prices.types().usd_h(hosts_[host].host.type);
  return price > 0 ? hosts_[host].value_usd_h / price : 0;
}

double Round::value_usd_h() const {
  double sum = 0;
  for (const Working& working : hosts_) sum += working.gone ? 0 : working.value_usd_h;
  return sum;
}

void Round::run() {
  place_waiting();
  greedy_value_usd_h_ = value_usd_h();
  improve();
}

/// Higher priorities first, and among equals what is worth most: it decides which types are rented.
void Round::place_waiting() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < p_.input.tasks().size(); ++i) {
    const RoundInput::Task& task = p_.input.tasks()[i];
    if (task.home == kUnassigned && task.movable) order.push_back(i);
  }
  const auto priority = [&](std::uint32_t i) {
    return p_.input.jobs()[p_.input.tasks()[i].job].priority;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (priority(a) != priority(b)) return priority(a) > priority(b);
    return pieces_[a].value_usd_h > pieces_[b].value_usd_h;
  });
  for (std::uint32_t task : order) place(task);
}

/// The best of joining an instance, one of its own, and waiting.
void Round::place(std::uint32_t task) {
  const Piece& piece = pieces_[task];
  const Piece* alone[] = {&piece};
  const std::optional<NewHost> fresh = best_new(model_, alone);
  double best = 0;  // of waiting
  std::uint32_t to = kUnassigned;
  bool placed = piece.may_wait;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    Working& working = hosts_[i];
    if (working.gone) continue;
    std::vector<std::uint32_t> with = working.tasks;
    with.push_back(task);
    const std::vector<const Piece*> pieces = pieces_of(with);
    std::optional<double> value;
    if (working.present != kUnassigned) {
      value = value_on(model_, working.host, pieces, working.present);
    } else if (const auto larger = best_new(model_, pieces)) {
      value = larger->value_usd_h;
    }
    if (!value) continue;
    const double gain = *value - working.value_usd_h;
    if (!placed || gain > best) best = gain, to = i, placed = true;
  }
  if (fresh && (!placed || fresh->value_usd_h > best)) {
    hosts_.push_back({.host = {fresh->type, 0, 0, {}}, .tasks = {task}});
    hosts_.back().value_usd_h = fresh->value_usd_h;
    hosts_.back().dirty = true;
  } else if (to != kUnassigned) {
    Working& working = hosts_[to];
    working.tasks.push_back(task);
    revalue(working);
    working.dirty = true;
  } else {
    waiting_.push_back(task);
  }
}

void Round::improve() {
  for (int pass = 0; pass < kMostPasses && !budget_.is_spent(); ++pass) {
    bool changed = improve_with_pairs();
    changed |= p_.params.patient && improve_waiting();
    if (pass == 0 || !changed) changed |= improve_with_triples();
    if (!changed) return;
  }
}

/// The hosts that an instance is tried with: all, or those that are worth least for their price.
std::vector<std::uint32_t> Round::neighbours_of(std::uint32_t host) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (i != host && is_open(i)) found.push_back(i);
  }
  if (found.size() <= kAllPairs) return found;
  std::partial_sort(found.begin(), found.begin() + kMostNeighbours, found.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const double of_a = value_for_price(a), of_b = value_for_price(b);
                      return of_a != of_b ? of_a < of_b : a < b;
                    });
  found.resize(kMostNeighbours);
  return found;
}

std::vector<std::uint32_t> Round::any_waiting() {
  if (waiting_.empty()) return {};
  return {waiting_[rng_.below(waiting_.size())]};
}

bool Round::improve_with_pairs() {
  bool changed = false;
  for (std::uint32_t a = 0; a < hosts_.size(); ++a) {
    if (!is_open(a) || !hosts_[a].dirty) continue;
    hosts_[a].dirty = false;
    changed |= attempt({a}, {});
    if (!is_open(a)) continue;
    for (std::uint32_t b : neighbours_of(a)) {
      if (budget_.is_spent()) return changed;
      if (!is_open(b)) continue;
      changed |= attempt({a, b}, any_waiting());
      if (!is_open(a)) break;
    }
  }
  return changed;
}

bool Round::improve_waiting() {
  bool changed = false;
  const std::vector<std::uint32_t> tried(
      waiting_.begin(),
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMostWaitingTried)));
  const auto waits = [&](std::uint32_t task) {
    return std::find(waiting_.begin(), waiting_.end(), task) != waiting_.end();
  };
  for (std::uint32_t task : tried) {
    for (std::uint32_t b : neighbours_of(kUnassigned)) {
      if (budget_.is_spent()) return changed;
      if (!waits(task)) break;
      if (is_open(b)) changed |= attempt({b}, {task});
    }
    for (std::uint32_t other : tried) {
      if (other <= task || !waits(task) || !waits(other)) continue;
      changed |= attempt({}, {task, other});
    }
  }
  return changed;
}

/// Instances that changed every second time, others by how little they are worth.
std::uint32_t Round::draw_host(bool dirty) {
  std::vector<std::uint32_t> open;
  std::vector<double> weights;
  double sum = 0;
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (!is_open(i) || (hosts_[i].tasks.empty() && hosts_[i].present == kUnassigned)) continue;
    const double weight = std::max(kLeastWeight, kEvenWeight - value_for_price(i));
    if (dirty && !hosts_[i].dirty && hosts_[i].present != kUnassigned) continue;
    open.push_back(i);
    weights.push_back(weight);
    sum += weight;
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
  for (std::uint32_t i = 0; i < p_.params.triples && !budget_.is_spent(); ++i) {
    std::uint32_t first = draw_host(i % 2 == 0);
    if (first == kUnassigned) first = draw_host(false);
    const std::uint32_t second = draw_host(false);
    const std::uint32_t third = draw_host(false);
    if (first == kUnassigned || first == second || first == third || second == third) continue;
    changed |= attempt({first, second, third}, any_waiting());
  }
  return changed;
}

/// Shares the tasks of the hosts and the waiting ones out anew, if that gains something.
bool Round::attempt(const std::vector<std::uint32_t>& hosts, std::vector<std::uint32_t> waiting) {
  std::vector<std::uint32_t> tasks;
  double before = 0;
  double weight = 0;
  for (std::uint32_t host : hosts) {
    tasks.insert(tasks.end(), hosts_[host].tasks.begin(), hosts_[host].tasks.end());
    before += hosts_[host].value_usd_h;
  }
  if (tasks.size() + waiting.size() > p_.params.max_tasks) waiting.clear();
  tasks.insert(tasks.end(), waiting.begin(), waiting.end());
  if (tasks.empty() || tasks.size() > p_.params.max_tasks) return false;
  // New instances are not among the hosts: the repartition makes its own.
  std::vector<std::uint32_t> present;
  std::vector<Host> given;
  for (std::uint32_t host : hosts) {
    if (hosts_[host].present == kUnassigned) continue;
    present.push_back(host);
    given.push_back(hosts_[host].host);
  }
  std::vector<Piece> pieces;
  for (std::uint32_t task : tasks) {
    Piece piece = pieces_[task];
    const auto home = std::find_if(present.begin(), present.end(), [&](std::uint32_t host) {
      return hosts_[host].present == piece.home;
    });
    piece.home =
        home == present.end() ? UINT32_MAX : static_cast<std::uint32_t>(home - present.begin());
    weight += piece.value_usd_h;
    pieces.push_back(piece);
  }
  const std::uint64_t steps = repartition_.steps();
  const Partition& found = repartition_.run(given, pieces);
  budget_.spend(repartition_.steps() - steps);
  if (!(found.value_usd_h > before + kLeastGain * weight)) return false;
  for (std::uint32_t host : hosts) {
    if (hosts_[host].present == kUnassigned) hosts_[host].gone = true;
  }
  ++adopted_;
  adopt(found, present, tasks);
  return true;
}

void Round::adopt(const Partition& partition, std::span<const std::uint32_t> hosts,
                  std::span<const std::uint32_t> tasks) {
  std::vector<std::vector<std::uint32_t>> sets(hosts.size() + partition.new_types.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto waits = std::find(waiting_.begin(), waiting_.end(), tasks[i]);
    if (partition.host_of[i] == Partition::kWaits) {
      if (waits == waiting_.end()) waiting_.push_back(tasks[i]);
      continue;
    }
    if (waits != waiting_.end()) waiting_.erase(waits);
    sets[partition.host_of[i]].push_back(tasks[i]);
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i >= hosts.size()) {
      hosts_.push_back({.host = {partition.new_types[i - hosts.size()], 0, 0, {}}, .tasks = {}});
    }
    Working& working = i < hosts.size() ? hosts_[hosts[i]] : hosts_.back();
    std::vector<std::uint32_t> before = working.tasks;
    std::sort(before.begin(), before.end());
    std::sort(sets[i].begin(), sets[i].end());
    if (before == sets[i]) continue;
    working.tasks = std::move(sets[i]);
    revalue(working);
    working.dirty = true;
  }
}

Layout Round::layout() const {
  Layout layout;
  layout.reset(p_.input.tasks().size());
  for (const Working& working : hosts_) {
    if (working.gone) continue;
    const bool stays = working.pinned || !working.host.fixed.empty();
    if (working.tasks.empty() && !stays) continue;
    const std::uint32_t host = working.present != kUnassigned
                                   ? layout.add_present(p_.input, working.present)
                                   : layout.add_new(p_.prices.types(), working.host.type);
    layout.hosts[host].worth_usd_h = working.value_usd_h + layout.hosts[host].price_usd_h;
    for (std::uint32_t task : working.tasks) layout.assign(task, host);
    if (working.present == kUnassigned) continue;
    for (std::uint32_t task : p_.input.residents(p_.input.instances()[working.present])) {
      if (!may_move(task)) layout.assign(task, host);
    }
  }
  return layout;
}

}  // namespace muster::own
