#include "schedulers/pollux/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/check.hpp"

namespace muster::pollux {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
constexpr double kNever = std::numeric_limits<double>::infinity();
/// Layouts that cost as much are as good: the other one may lead further.
constexpr double kSame = 1e-12;
/// Of all moves, those in which one only leaves some of its places to the others.
constexpr double kShrinking = 0.2;
/// Of all moves, those by which a job gets what it has now back, whoever has it.
constexpr double kGoingBack = 0.2;
/// Halvings by which the price of a worker is found.
constexpr int kPriceSteps = 40;
/// Of all moves, those that empty nodes rather than take out jobs wherever they are.
constexpr double kByNodes = 0.5;
/// Share of workers whose place is drawn at random.
constexpr double kAnywhere = 0.15;
constexpr std::size_t kMostTakenOut = 5;

}  // namespace

LocalSearch::LocalSearch(const SearchProblem& problem)
    : problem_(problem),
      places_(problem.jobs.size()),
      cost_of_(problem.jobs.size(), 0),
      free_(problem.room),
      several_(problem.room.size(), kNobody),
      on_node_(problem.room.size()) {
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const SearchJob& job = problem.jobs[j];
    Costs& costs = costs_.emplace_back();
    for (std::uint32_t r = 0; r <= job.most && r <= job.one_node.size(); ++r) {
      costs.one_node.push_back(problem.cost(j, {r, 1}, true));
    }
    for (std::uint32_t r = 0; r <= job.most && r <= job.several.size() + 1; ++r) {
      costs.several.push_back(r < 2 ? kNever : problem.cost(j, {r, 2}, true));
    }
    MUSTER_CHECK(job.current.size() == problem.room.size(), "a row has a number for each node");
    costs.current = problem.cost(j, job.current);
    current_.push_back(places_of(job.current));
    cost_of_[j] = costs.one_node[0];
  }
}

Layout LocalSearch::run(std::uint32_t moves, Rng& rng, Budget& budget) {
  std::vector<Places> best = places_;
  if (problem_.jobs.empty() || problem_.room.empty()) return layout_of(best);
  price_ = going_price();
  double least = kNever;
  for (const bool keep : {true, false}) {
    begin(keep, rng);
    for (std::uint32_t move = 0; move < moves / 2 && budget.spend(); ++move) try_move(rng);
    const double cost = std::accumulate(cost_of_.begin(), cost_of_.end(), 0.0);
    if (cost >= least * (1 - kSame)) continue;
    least = cost;
    best = places_;
  }
  return layout_of(best);
}

LocalSearch::Places LocalSearch::places_of(const Row& row) {
  Places places;
  for (std::size_t n = 0; n < row.size(); ++n) {
    if (row[n] > 0) places.push_back({static_cast<std::uint32_t>(n), row[n]});
  }
  return places;
}

RowSize LocalSearch::size_of(const Places& places) {
  RowSize size{0, static_cast<std::uint32_t>(places.size())};
  for (const Place& place : places) size.workers += place.workers;
  return size;
}

Layout LocalSearch::layout_of(const std::vector<Places>& places) const {
  Layout layout(places.size(), Row(problem_.room.size(), 0));
  for (std::size_t j = 0; j < places.size(); ++j) {
    for (const Place& place : places[j]) layout[j][place.node] = place.workers;
  }
  return layout;
}

/// From what there is, as far as it fits, or from nothing.
void LocalSearch::begin(bool keep, Rng& rng) {
  std::vector<std::size_t> order(problem_.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const std::size_t j : order) take_out(j);
  for (const std::size_t j : order) {
    if (keep && current_fits(j)) put(j, current_[j]);
  }
  // The widest first: small ones find their places in the rest.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem_.jobs[a].most > problem_.jobs[b].most;
  });
  for (const std::size_t j : order) {
    if (places_[j].empty()) put_best(j, price_, rng);
  }
}

void LocalSearch::put(std::size_t job, Places places) {
  const RowSize size = size_of(places);
  cost_of_[job] = places == current_[job] ? costs_[job].current
                  : size.nodes > 1        ? costs_[job].several[size.workers]
                                          : costs_[job].one_node[size.workers];
  for (const auto& [node, workers] : places) {
    free_[node] -= problem_.jobs[job].units[node] * workers;
    if (size.nodes > 1) several_[node] = job;
    on_node_[node].push_back(job);
  }
  places_[job] = std::move(places);
}

void LocalSearch::take_out(std::size_t job) {
  for (const auto& [node, workers] : places_[job]) {
    free_[node] += problem_.jobs[job].units[node] * workers;
    if (several_[node] == job) several_[node] = kNobody;
    std::vector<std::size_t>& there = on_node_[node];
    *std::ranges::find(there, job) = there.back();
    there.pop_back();
  }
  places_[job].clear();
  cost_of_[job] = costs_[job].one_node[0];
}

bool LocalSearch::current_fits(std::size_t j) const {
  const Places& current = current_[j];
  if (current.empty() || costs_[j].current == kNever) return false;
  return std::ranges::all_of(current, [&](const Place& place) {
    const bool barred = current.size() > 1 && several_[place.node] != kNobody;
    return !barred &&
           place.workers <= workers_in_units(problem_.jobs[j], place.node, free_[place.node]);
  });
}

void LocalSearch::look_for_rooms(std::size_t j) {
  const SearchJob& job = problem_.jobs[j];
  rooms_.resize(free_.size());
  widest_ = 0;
  std::uint32_t room = 0;  // the most that a node which may be shared has
  for (std::size_t n = 0; n < free_.size(); ++n) {
    rooms_[n] = workers_in_units(job, n, free_[n]);
    widest_ = std::max(widest_, rooms_[n]);
    if (several_[n] == kNobody) room = std::max(room, rooms_[n]);
  }
  open_.clear();
  // Every pass finds a node, so that there are no more passes than nodes that are looked for.
  while (room > 0 && open_.size() < kMostNodes) {
    std::uint32_t next = 0;
    for (std::size_t n = 0; n < free_.size() && open_.size() < kMostNodes; ++n) {
      if (several_[n] != kNobody) continue;
      if (rooms_[n] == room) open_.push_back(n);
      if (rooms_[n] < room) next = std::max(next, rooms_[n]);
    }
    room = next;
  }
}

LocalSearch::Choice LocalSearch::best_choice(std::size_t j, double price) const {
  const SearchJob& job = problem_.jobs[j];
  const Costs& costs = costs_[j];
  Choice best{costs.one_node[0], {}, false};
  if (current_fits(j)) {
    const RowSize size = size_of(current_[j]);
    const double value = costs.current + price * size.workers;
    if (value < best.value) best = {value, size, true};
  }
  if (job.stays) return best;
  for (std::uint32_t r = job.least; r <= widest_ && r < costs.one_node.size(); ++r) {
    const double value = costs.one_node[r] + price * r;
    if (value < best.value) best = {value, {r, 1}, false};
  }
  std::uint32_t together = 0;
  for (const std::size_t n : open_) together += rooms_[n];
  const auto end = std::min<std::size_t>(together + 1, costs.several.size());
  for (std::uint32_t r = std::max({job.least, widest_ + 1, 2U}); r < end; ++r) {
    const double value = costs.several[r] + price * r;
    if (value < best.value) best = {value, {r, 2}, false};
  }
  return best;
}

void LocalSearch::put_best(std::size_t job, double price, Rng& rng) {
  look_for_rooms(job);
  const Choice best = best_choice(job, price);
  if (best.current) return put(job, current_[job]);
  const RowSize size = best.size;
  if (size.workers == 0) return;
  put(job, size.nodes > 1 ? several(size.workers, rng) : one_node(size.workers, rng));
}

/// The node with the least room that has enough, unless chance has it otherwise.
LocalSearch::Places LocalSearch::one_node(std::uint32_t workers, Rng& rng) const {
  const bool anywhere = rng.uniform() < kAnywhere;
  std::size_t chosen = kNobody;
  std::uint32_t seen = 0;
  for (std::size_t n = 0; n < rooms_.size(); ++n) {
    if (rooms_[n] < workers) continue;
    const bool better = chosen == kNobody || rooms_[n] < rooms_[chosen];
    if (anywhere ? rng.below(++seen) == 0 : better) chosen = n;
    if (!anywhere && rooms_[n] == workers) break;  // no other node has less and enough
  }
  MUSTER_CHECK(chosen != kNobody, "a width that was chosen has room on a node");
  return {{static_cast<std::uint32_t>(chosen), static_cast<std::uint16_t>(workers)}};
}

/// Whole nodes, the largest first, and for the rest the one with the least room that has enough.
LocalSearch::Places LocalSearch::several(std::uint32_t workers, Rng& rng) const {
  Places places;
  const auto take = [&](std::size_t node, std::uint32_t some) {
    places.push_back({static_cast<std::uint32_t>(node), static_cast<std::uint16_t>(some)});
  };
  std::vector<std::size_t> nodes = open_;
  if (rng.uniform() < kAnywhere) {
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[rng.below(i)]);
  }
  std::size_t i = 0;
  for (; i < nodes.size() && workers >= rooms_[nodes[i]]; ++i) {
    take(nodes[i], rooms_[nodes[i]]);
    workers -= rooms_[nodes[i]];
  }
  if (workers > 0) {
    std::size_t tightest = nodes[i];
    for (; i < nodes.size(); ++i) {
      if (rooms_[nodes[i]] >= workers && rooms_[nodes[i]] < rooms_[tightest]) tightest = nodes[i];
    }
    take(tightest, workers);
  }
  std::ranges::sort(places, {}, &Place::node);
  return places;
}

/// All jobs of some nodes and one from elsewhere, or some wherever they are.
std::vector<std::size_t> LocalSearch::chosen_jobs(Rng& rng) const {
  const std::size_t count = problem_.jobs.size();
  std::vector<std::size_t> chosen;
  if (rng.uniform() < kByNodes) {
    const std::size_t nodes = 1 + rng.below(3);
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t n = rng.below(free_.size());
      chosen.insert(chosen.end(), on_node_[n].begin(), on_node_[n].end());
    }
    chosen.push_back(rng.below(count));
  } else {
    const std::size_t most = 1 + rng.below(std::min(kMostTakenOut, count));
    for (std::size_t i = 0; i < most; ++i) chosen.push_back(rng.below(count));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[rng.below(i)]);
  return chosen;
}

/// A job that has workers on a node and would still run with some fewer of them there.
void LocalSearch::make_room(std::size_t job, Rng& rng) {
  Places places = places_[job];
  const RowSize size = size_of(places);
  if (size.workers <= problem_.jobs[job].least || problem_.jobs[job].stays) return;
  const auto place = places.begin() + static_cast<std::ptrdiff_t>(rng.below(size.nodes));
  const std::uint32_t most =
      std::min<std::uint32_t>(place->workers, size.workers - problem_.jobs[job].least);
  place->workers -= static_cast<std::uint16_t>(1 + rng.below(most));
  if (place->workers == 0) places.erase(place);
  take_out(job);
  put(job, std::move(places));
}

/// The job and those that are in the way of its having what it has now.
std::vector<std::size_t> LocalSearch::in_the_way(std::size_t job) const {
  const std::vector<std::uint32_t>& units = problem_.jobs[job].units;
  std::vector<std::size_t> found{job};
  for (const auto& [node, workers] : current_[job]) {
    std::uint32_t free = free_[node] + units[node] * workers_there(job, node);
    std::vector<std::size_t> there = on_node_[node];
    std::ranges::sort(there);
    for (const std::size_t j : there) {
      const bool barred = current_[job].size() > 1 && several_[node] == j;
      const bool short_of_room = free < units[node] * workers;
      if (j == job || !(barred || short_of_room)) continue;
      free += problem_.jobs[j].units[node] * workers_there(j, node);
      if (std::ranges::find(found, j) == found.end()) found.push_back(j);
    }
  }
  return found;
}

std::uint32_t LocalSearch::workers_there(std::size_t job, std::uint32_t node) const {
  const auto place = std::ranges::find(places_[job], node, &Place::node);
  return place == places_[job].end() ? 0 : place->workers;
}

void LocalSearch::try_move(Rng& rng) {
  const double kind = rng.uniform();
  const std::size_t drawn = rng.below(places_.size());
  const bool apart = places_[drawn] != current_[drawn] && costs_[drawn].current < kNever;
  if (kind < kGoingBack && apart && !current_[drawn].empty()) {
    std::vector<std::size_t> chosen = in_the_way(drawn);
    // Those who lose their places may need more than what the job leaves.
    for (std::uint64_t others = rng.below(3); others > 0; --others) {
      const std::size_t other = rng.below(places_.size());
      if (std::ranges::find(chosen, other) == chosen.end()) chosen.push_back(other);
    }
    for (std::size_t i = chosen.size(); i > 2; --i) {
      std::swap(chosen[i - 1], chosen[1 + rng.below(i - 1)]);
    }
    return try_anew(chosen, First::has_current, rng);
  }
  const bool shrinks = kind > 1 - kShrinking;
  try_anew(chosen_jobs(rng), shrinks ? First::leaves_room : First::is_put, rng);
}

/// Places the jobs anew, one after the other, and undoes it if that is worse.
void LocalSearch::try_anew(const std::vector<std::size_t>& chosen, First first, Rng& rng) {
  std::vector<Places> before;
  double was = 0;
  for (const std::size_t j : chosen) {
    before.push_back(places_[j]);
    was += cost_of_[j];
  }
  if (chosen.size() == 1 && first == First::leaves_room) first = First::is_put;
  const std::size_t from = first == First::is_put ? 0 : 1;
  for (std::size_t i = first == First::leaves_room ? 1 : 0; i < chosen.size(); ++i) {
    take_out(chosen[i]);
  }
  if (first == First::leaves_room) make_room(chosen[0], rng);
  if (first == First::has_current && current_fits(chosen[0])) {
    put(chosen[0], current_[chosen[0]]);
  }
  // From a hundredth of the going price to ten times as much.
  const double price = price_ * std::pow(10, rng.uniform(-2, 1));
  for (std::size_t i = from; i < chosen.size(); ++i) {
    put_best(chosen[i], i + 1 == chosen.size() ? 0 : price, rng);
  }
  double is = 0;
  for (const std::size_t j : chosen) is += cost_of_[j];
  if (is <= was + kSame * was) return;
  for (const std::size_t j : chosen) take_out(j);
  for (std::size_t i = 0; i < chosen.size(); ++i) put(chosen[i], std::move(before[i]));
}

/// Workers that jobs would have at that price if places were of no matter; more than `enough` are
/// not counted on.
double LocalSearch::demand_at(double price, std::uint64_t enough) const {
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < costs_.size() && sum <= enough; ++j) {
    const Costs& costs = costs_[j];
    double least = costs.one_node[0];
    std::uint32_t workers = 0;
    for (std::uint32_t r = problem_.jobs[j].least; r <= problem_.jobs[j].most; ++r) {
      const double one = r < costs.one_node.size() ? costs.one_node[r] : kNever;
      const double several = r < costs.several.size() ? costs.several[r] : kNever;
      const double value = std::min(one, several) + price * r;
      if (value < least) std::tie(least, workers) = std::pair(value, r);
    }
    sum += workers;
  }
  return static_cast<double>(sum);
}

/// At which jobs would together have about as many workers as there is room for.
double LocalSearch::going_price() const {
  const double room = std::accumulate(problem_.room.begin(), problem_.room.end(), 0.0);
  double units = 1;  // of a worker, on average
  for (const SearchJob& job : problem_.jobs) {
    for (const std::uint32_t each : job.units) units = std::max<double>(units, each);
  }
  const double workers = room / units;
  double low = 1e-6;
  double high = 1e3;
  for (int step = 0; step < kPriceSteps; ++step) {
    const double middle = std::sqrt(low * high);
    (demand_at(middle, static_cast<std::uint64_t>(workers)) > workers ? low : high) = middle;
  }
  return high;
}

}  // namespace muster::pollux
