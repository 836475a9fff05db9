// The layout under way in a round. Hosts keep their own worth, gangs theirs, so that a change costs
// what it touches and the whole is the sum of both.

#include "schedulers/muster/round_layout.hpp"

#include <algorithm>
#include <climits>
#include <limits>
#include <utility>

#include "model/feasible.hpp"
#include "schedulers/muster/offers.hpp"

namespace muster::own {
namespace {

/// The task ends before the instance, which is closed, has emptied.
bool may_come(const RoundParts& parts, std::uint32_t task, std::uint32_t instance) {
  const ClusterState& state = parts.view.state;
  return parts.view.may_come(state.task(parts.input.tasks()[task].slot),
                             state.instance(parts.input.instances()[instance].slot));
}

/// A move would leave nothing of the horizon: a share that ends at 0 does not say how much more it
/// would lose.
bool loses_horizon_by_move(const RoundLayout& layout, std::uint32_t task) {
  const Piece& piece = layout.piece(task);
  const double horizon_h = piece.horizon_h > 0 ? piece.horizon_h : layout.model().horizon_h;
  return layout.loses_by_stop(task) && piece.start_h + piece.leave_h >= horizon_h;
}

}  // namespace

RoundLayout::RoundLayout(const RoundParts& parts)
    : p_(parts),
      offers_(offers(parts.view, parts.prices, parts.params)),
      model_{parts.prices, parts.rates, to_hours(parts.params.horizon), offers_},
      machines_(parts, model_.horizon_h),
      peers_(parts.input.peer_rooms()) {
  pieces_ = gather_pieces(parts, offers_, model_.horizon_h);
  host_of_.assign(pieces_.size(), kUnassigned);
  pace_.assign(pieces_.size(), 0);
  works_.assign(pieces_.size(), 0);
  gather_gangs();
  gather_hosts();
}

/// The tasks of a gang stand one after the other. They start when the slowest of them is there.
void RoundLayout::gather_gangs() {
  const std::span<const RoundInput::Task> tasks = p_.input.tasks();
  for (std::uint32_t i = 0; i < tasks.size();) {
    std::uint32_t end = i + 1;
    while (end < tasks.size() && tasks[end].job == tasks[i].job) ++end;
    if (is_gang(p_.view.state.job(p_.input.jobs()[tasks[i].job].slot))) {
      Team team{.tasks = {}, .movable = true};
      Piece all;
      for (std::uint32_t task = i; task < end; ++task) {
        team.tasks.push_back(task);
        team.usd_h += pieces_[task].value_usd_h;
        team.movable &= tasks[task].movable;
        all.start_h = std::max(all.start_h, pieces_[task].start_h);
        all.leave_h = std::max(all.leave_h, pieces_[task].leave_h);
      }
      for (const std::uint32_t task : team.tasks) {
        pieces_[task].gang = static_cast<std::uint32_t>(teams_.size());
        pieces_[task].gang_usd_h = pieces_[task].stake_usd_h = team.usd_h;
        pieces_[task].start_h = all.start_h;
        pieces_[task].leave_h = all.leave_h;
      }
      teams_.push_back(std::move(team));
      for (const std::uint32_t task : teams_.back().tasks)
        teams_.back().movable &= !loses_horizon_by_move(*this, task);
    }
    i = end;
  }
}

/// Instances in the order of request, each with what stays on it and what may be moved.
void RoundLayout::gather_hosts() {
  for (std::uint32_t i = 0; i < p_.input.instances().size(); ++i) {
    const RoundInput::Instance& instance = p_.input.instances()[i];
    const InstanceType& type = p_.view.catalog[instance.type];
    Working working;
    working.host = {instance.type, instance.price_usd_h, 0, {}};
    working.host.market = p_.view.state.instance(instance.slot).market;
    working.host.interruptions_h =
        interruptions_h(p_.view, instance.type, working.host.market, p_.params);
    working.host.renew_h = to_hours(type.acquire + type.setup);
    working.present = i;
    working.pinned = instance.pinned;
    working.closed = instance.closed;
    working.dirty = p_.memory.is_dirty(instance.id);
    if (!instance.ready) {
      const InstanceRow& row = p_.view.state.instance(instance.slot);
      const Instant due = (row.up ? row.up_at : row.requested_at + type.acquire) + type.setup;
      working.host.left_h = std::max(0.0, to_hours(due - p_.view.now));
    }
    hosts_.push_back(std::move(working));
    for (std::uint32_t task : p_.input.residents(instance)) {
      host_of_[task] = i;
      // One task of a gang that stays holds all of them where they are.
      const bool stays = pieces_[task].gang == kNoGang
                             ? !p_.input.tasks()[task].movable || loses_horizon_by_move(*this, task)
                             : !teams_[pieces_[task].gang].movable;
      if (stays) {
        hosts_[i].host.fixed.push_back(pieces_[task]);
        hosts_[i].fixed_tasks.push_back(task);
      } else {
        hosts_[i].tasks.push_back(task);
      }
    }
    // One without tasks is worth 0, and the layout leaves it out unless something is put there.
    revalue(i);
  }
  for (const TypeId type : machines_.types()) show_machine(type);
}

/// It is left out, as an empty instance is, unless something is put there.
void RoundLayout::show_machine(TypeId type) {
  const std::optional<Host> host = machines_.take(type);
  if (!host) return;
  Working working{.host = *host, .present = static_cast<std::uint32_t>(hosts_.size())};
  working.machine = working.newest = working.dirty = true;
  hosts_.push_back(std::move(working));
  revalue(hosts_.back().present);
}

std::span<const std::uint32_t> RoundLayout::together(const std::uint32_t& task) const {
  if (team_of(task) == kNoGang) return {&task, 1};
  return teams_[team_of(task)].tasks;
}

const std::vector<const Piece*>& RoundLayout::pieces_of(
    std::span<const std::uint32_t> tasks) const {
  some_.clear();
  for (std::uint32_t task : tasks) some_.push_back(&pieces_[task]);
  return some_;
}

/// Values a host anew after its tasks have changed.
void RoundLayout::revalue(std::uint32_t number) {
  Working& working = hosts_[number];
  ++working.version;
  changes_.push_back(number);
  working.own_usd_h = working.value_usd_h = 0;
  working.used = {};
  if (working.tasks.empty() && working.fixed_tasks.empty()) return count(working);
  const std::size_t movable = working.tasks.size();
  const std::span<const double> paces = paces_.on(model_, working.host, pieces_of(working.tasks));
  // The present tasks may be larger than the instance by its type's stated capacity.
  working.own_usd_h = -working.host.price_usd_h;
  if (!paces.empty()) working.own_usd_h -= risk_usd_h(working.host, paces_.pieces());
  working.value_usd_h = working.own_usd_h;
  for (std::size_t i = 0; i < movable + working.fixed_tasks.size(); ++i) {
    const bool fixed = i >= movable;
    const std::uint32_t task = fixed ? working.fixed_tasks[i - movable] : working.tasks[i];
    const Piece& piece = pieces_[task];
    working.used += p_.prices.on(piece.shape, working.host.type).amount;
    pace_[task] = paces.empty() ? 0 : paces[i];
    const bool stays = fixed || (working.present != kUnassigned && piece.home == working.present);
    const double share = stays ? 1 : share_on(model_, piece, working.host, false);
    works_[task] = pace_[task] * share;
    const double worth = piece.value_usd_h * works_[task];
    working.value_usd_h += worth;
    if (piece.gang == kNoGang) working.own_usd_h += worth;
    recount_team_of(task);
  }
  count(working);
  if (std::exchange(working.newest, false)) show_machine(TypeId{working.host.type});
}

/// Puts what a host is worth now into the running value.
void RoundLayout::count(Working& working) {
  const double worth = working.gone ? 0 : working.own_usd_h;
  running_usd_h_ += worth - std::exchange(working.counted_usd_h, worth);
}

/// A gang of many tasks is valued once it is asked for, and not with each of its tasks that is
/// placed.
void RoundLayout::recount_team_of(std::uint32_t task) {
  if (team_of(task) == kNoGang || std::exchange(teams_[team_of(task)].stale, true)) return;
  stale_teams_.push_back(team_of(task));
}

double RoundLayout::running_value_usd_h() {
  for (const std::uint32_t number : stale_teams_) {
    Team& team = teams_[number];
    const double worth = gang_usd_h(number);
    running_usd_h_ += worth - std::exchange(team.counted_usd_h, worth);
    team.stale = false;
  }
  stale_teams_.clear();
  return running_usd_h_;
}

/// The best offering for the tasks of a host to be rented.
void RoundLayout::settle_type(std::uint32_t number) {
  Working& working = hosts_[number];
  const std::optional<NewHost> best = Valuer{model_, paces_}.best_new(pieces_of(working.tasks));
  if (best) working.host = offers_[best->offer];
}

double RoundLayout::value_for_price(std::uint32_t host) const {
  const Host& of = hosts_[host].host;
  const PricedTypes& types = p_.prices.types();
  const double price = types.price(of.type, of.market).value_or(types.price(of.type)).usd_h();
  return price > 0 ? hosts_[host].value_usd_h / price : 0;
}

bool RoundLayout::is_displaced(std::uint32_t task) const {
  return pieces_[task].home == kUnassigned || hosts_[host_of_[task]].present != pieces_[task].home;
}

/// Worth of an hour of the gang at the pace of its slowest task, less the cost of its start when
/// one of its tasks has another place than before. Nothing while one has no place: then the gang
/// does not run.
double RoundLayout::gang_usd_h(std::uint32_t gang) const {
  const Team& team = teams_[gang];
  double pace = std::numeric_limits<double>::infinity();
  double share = 1;
  bool starts = false;
  for (const std::uint32_t task : team.tasks) {
    if (host_of_[task] == kUnassigned) return 0;
    const bool displaced = is_displaced(task);
    starts |= displaced;
    pace = std::min(pace, pace_[task]);
    share =
        std::min(share, share_on(model_, pieces_[task], hosts_[host_of_[task]].host, !displaced));
  }
  return team.usd_h * pace * (starts ? share : 1);
}

double RoundLayout::value_usd_h() const {
  double sum = 0;
  for (const Working& working : hosts_) sum += working.gone ? 0 : working.own_usd_h;
  for (std::uint32_t gang = 0; gang < teams_.size(); ++gang) sum += gang_usd_h(gang);
  return sum;
}

bool RoundLayout::has_room(std::uint32_t task, std::uint32_t number, const Resources& taken) const {
  const Working& working = hosts_[number];
  if (working.gone) return false;
  if (working.present == kUnassigned) return true;
  if (working.closed && !may_come(p_, task, working.present)) return false;
  if (!p_.prices.mask().allows(pieces_[task].asks(), working.host.kind())) return false;
  const Resources& capacity = p_.prices.types()[working.host.type].capacity;
  return (working.used + taken + amount_on(task, number)).fits_in(capacity);
}

std::uint32_t RoundLayout::newcomers(const Apart& apart, std::uint32_t host,
                                     std::span<const std::uint32_t> moved) const {
  if (!apart) return std::numeric_limits<std::uint32_t>::max();
  const Working& working = hosts_[host];
  const bool is_present = working.present != kUnassigned;
  const auto comes = [&](std::uint32_t task) {
    // Those that are at home there are among the peers of the present.
    if (pieces_[task].apart != apart) return false;
    if (is_present && p_.input.tasks()[task].home == working.present) return false;
    return std::ranges::find(moved, task) == moved.end();
  };
  const auto coming = static_cast<std::uint32_t>(std::ranges::count_if(working.tasks, comes));
  const std::uint32_t left = is_present ? peers_.left(working.present, apart) : apart.most;
  return left - std::min(left, coming);
}

const Resources& RoundLayout::amount_on(std::uint32_t task, std::uint32_t number) const {
  return p_.prices.on(pieces_[task].shape, hosts_[number].host.type).amount;
}

std::optional<double> RoundLayout::gain_by(std::uint32_t task, std::uint32_t number) const {
  if (!has_room(task, number) || newcomers(pieces_[task].apart, number) == 0) return std::nullopt;
  const Working& working = hosts_[number];
  const Piece& piece = pieces_[task];
  if (working.present == kUnassigned) {
    const Valuer values{model_, paces_};
    const bool any_gang = std::ranges::any_of(
        pieces_of(working.tasks), [](const Piece* other) { return other->gang != kNoGang; });
    const auto before =
        any_gang ? values.on(working.host, some_, kNewHost) : std::optional(working.own_usd_h);
    some_.push_back(&piece);
    const auto after = values.best_new(some_);
    return after ? std::optional(after->value_usd_h - before.value_or(0)) : std::nullopt;
  }
  // Each task there is slowed by one neighbour more, and the new one by all of them.
  const bool job_wide = model_.gang_loss == GangLoss::job_wide;
  double pace = speed_on(p_.prices, piece.shape, working.host.type);
  double gain = 0;
  const auto look = [&](std::uint32_t other) {
    const Piece& beside = pieces_[other];
    const bool all = job_wide && beside.gang != kNoGang;
    const double slowed = 1 - p_.rates.rate(beside.cls, piece.cls);
    gain -= (all ? beside.gang_usd_h : beside.value_usd_h) * works_[other] * slowed;
    pace *= p_.rates.rate(piece.cls, beside.cls);
  };
  for (const std::uint32_t other : working.tasks) look(other);
  for (const std::uint32_t other : working.fixed_tasks) look(other);
  if (working.tasks.empty() && working.fixed_tasks.empty()) gain -= working.host.price_usd_h;
  if (working.host.interruptions_h > 0) {
    pieces_of(working.tasks);
    for (const std::uint32_t other : working.fixed_tasks) some_.push_back(&pieces_[other]);
    const double before = risk_usd_h(working.host, some_);
    some_.push_back(&piece);
    gain -= risk_usd_h(working.host, some_) - before;
  }
  const double works = pace * share_on(model_, piece, working.host, piece.home == working.present);
  const bool all = job_wide && piece.gang != kNoGang;
  return gain +
         (all ? piece.value_usd_h - (1 - works) * piece.gang_usd_h : piece.value_usd_h * works);
}

std::uint32_t RoundLayout::add_new(std::uint32_t offer) {
  Working working;
  working.host = offers_[offer];
  working.dirty = true;
  hosts_.push_back(std::move(working));
  return static_cast<std::uint32_t>(hosts_.size() - 1);
}

void RoundLayout::add(std::uint32_t task, std::uint32_t number) {
  Working& working = hosts_[number];
  working.tasks.push_back(task);
  working.dirty = true;
  host_of_[task] = number;
  if (working.present == kUnassigned) settle_type(number);
  revalue(number);
}

/// Undoes add(): a host that was to be rented for the task alone is gone with it.
void RoundLayout::take_off(std::uint32_t task) {
  const std::uint32_t number = std::exchange(host_of_[task], kUnassigned);
  Working& working = hosts_[number];
  std::erase(working.tasks, task);
  if (working.present == kUnassigned) {
    working.gone = working.tasks.empty();
    if (!working.gone) settle_type(number);
  }
  recount_team_of(task);
  revalue(number);
}

std::vector<std::uint32_t> RoundLayout::hosts_of_gang(std::uint32_t gang) const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t task : teams_[gang].tasks) {
    const std::uint32_t host = host_of_[task];
    if (host == kUnassigned || !is_open(host)) continue;
    if (std::find(found.begin(), found.end(), host) == found.end()) found.push_back(host);
  }
  return found;
}

/// Hosts in the order of a plan: those that are there, then those to be rented, since a cap refuses
/// the last ones: the highest priority and then the most worth for its price first.
std::vector<std::uint32_t> RoundLayout::plan_order() const {
  std::vector<std::uint32_t> order;
  std::vector<std::pair<int, double>> rank(hosts_.size(), {INT_MIN, 0});
  for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].gone) continue;
    order.push_back(i);
    if (hosts_[i].present != kUnassigned && !hosts_[i].machine) continue;
    rank[i].second = -value_for_price(i);
    int highest = INT_MIN;
    for (const std::uint32_t task : hosts_[i].tasks) highest = std::max(highest, priority(task));
    rank[i].first = -highest;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  return order;
}

Layout RoundLayout::layout() const {
  Layout layout;
  layout.reset(p_.input.tasks().size());
  for (const std::uint32_t number : plan_order()) {
    const Working& working = hosts_[number];
    const bool stays = working.pinned || !working.fixed_tasks.empty();
    if (working.tasks.empty() && !stays) continue;
    const std::uint32_t host =
        working.present != kUnassigned && !working.machine
            ? layout.add_present(p_.input, working.present)
            : layout.add_new(p_.prices.types(), working.host.type, working.host.market);
    layout.hosts[host].worth_usd_h = working.value_usd_h + layout.hosts[host].price_usd_h;
    for (std::uint32_t task : working.tasks) layout.assign(task, host);
    for (std::uint32_t task : working.fixed_tasks) layout.assign(task, host);
  }
  return layout;
}

bool renews(const RoundLayout& layout, std::uint32_t host, std::uint32_t offer) {
  const RoundLayout::Working& own = layout.host(host);
  const Host& fresh = layout.model().offers[offer];
  const bool same = own.host.type == fresh.type && own.host.market == fresh.market;
  if (!same || own.present == kUnassigned) return false;
  // The offer's own price leaves out the time until it is there.
  const PricedTypes& types = layout.model().prices.types();
  return own.host.price_usd_h <= types.price(fresh.type, fresh.market)->usd_h();
}

}  // namespace muster::own
