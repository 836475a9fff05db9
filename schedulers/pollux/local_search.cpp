#include "schedulers/pollux/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

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
/// Where a worker goes is left to chance so often.
constexpr double kAnywhere = 0.15;
constexpr std::size_t kMostTakenOut = 5;

}  // namespace

LocalSearch::LocalSearch(const SearchProblem& problem)
    : problem_(problem),
      rows_(problem.jobs.size(), Row(problem.room.size(), 0)),
      cost_of_(problem.jobs.size(), 0),
      free_(problem.room),
      several_(problem.room.size(), kNobody) {
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const SearchJob& job = problem.jobs[j];
    Costs& costs = costs_.emplace_back();
    for (std::uint32_t r = 0; r <= job.most && r <= job.one_node.size(); ++r) {
      costs.one_node.push_back(problem.cost(j, {r, 1}, true));
    }
    for (std::uint32_t r = 0; r <= job.most && r <= job.several.size() + 1; ++r) {
      costs.several.push_back(r < 2 ? kNever : problem.cost(j, {r, 2}, true));
    }
    costs.current = problem.cost(j, job.current);
    cost_of_[j] = costs.one_node[0];
  }
}

Layout LocalSearch::run(std::uint32_t moves, Rng& rng, Budget& budget) {
  if (problem_.jobs.empty() || problem_.room.empty()) return rows_;
  price_ = going_price();
  Layout best;
  double least = kNever;
  for (const bool keep : {true, false}) {
    begin(keep, rng);
    for (std::uint32_t move = 0; move < moves / 2 && budget.spend(); ++move) try_move(rng);
    const double cost = std::accumulate(cost_of_.begin(), cost_of_.end(), 0.0);
    if (cost >= least * (1 - kSame)) continue;
    least = cost;
    best = rows_;
  }
  return best;
}

/// From what there is, as far as it fits, or from nothing.
void LocalSearch::begin(bool keep, Rng& rng) {
  std::vector<std::size_t> order(problem_.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const std::size_t j : order) take_out(j);
  for (const std::size_t j : order) {
    if (keep && current_fits(j)) put(j, problem_.jobs[j].current);
  }
  // The widest first: what is small finds its place in what is left.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem_.jobs[a].most > problem_.jobs[b].most;
  });
  for (const std::size_t j : order) {
    if (size_of(rows_[j]).workers == 0) put_best(j, price_, rng);
  }
}

void LocalSearch::put(std::size_t job, const Row& row) {
  const RowSize size = size_of(row);
  rows_[job] = row;
  cost_of_[job] = row == problem_.jobs[job].current ? costs_[job].current
                  : size.nodes > 1                  ? costs_[job].several[size.workers]
                                                    : costs_[job].one_node[size.workers];
  if (size.workers == 0) return;
  for (std::size_t n = 0; n < row.size(); ++n) {
    if (row[n] == 0) continue;
    free_[n] -= problem_.jobs[job].units[n] * row[n];
    if (size.nodes > 1) several_[n] = job;
  }
}

void LocalSearch::take_out(std::size_t job) {
  for (std::size_t n = 0; n < rows_[job].size(); ++n) {
    if (rows_[job][n] == 0) continue;
    free_[n] += problem_.jobs[job].units[n] * rows_[job][n];
    if (several_[n] == job) several_[n] = kNobody;
    rows_[job][n] = 0;
  }
  cost_of_[job] = costs_[job].one_node[0];
}

bool LocalSearch::current_fits(std::size_t j) const {
  const SearchJob& job = problem_.jobs[j];
  const RowSize size = size_of(job.current);
  if (size.workers == 0 || costs_[j].current == kNever) return false;
  for (std::size_t n = 0; n < job.current.size(); ++n) {
    if (job.current[n] == 0) continue;
    if (job.current[n] > workers_in_units(job, n, free_[n])) return false;
    if (size.nodes > 1 && several_[n] != kNobody) return false;
  }
  return true;
}

void LocalSearch::look_for_rooms(std::size_t j) {
  const SearchJob& job = problem_.jobs[j];
  rooms_.resize(free_.size());
  open_.clear();
  for (std::size_t n = 0; n < free_.size(); ++n) {
    rooms_[n] = workers_in_units(job, n, free_[n]);
    if (rooms_[n] > 0 && several_[n] == kNobody) open_.push_back(n);
  }
  std::stable_sort(open_.begin(), open_.end(),
                   [&](std::size_t a, std::size_t b) { return rooms_[a] > rooms_[b]; });
  if (open_.size() > kMostNodes) open_.resize(kMostNodes);
}

LocalSearch::Choice LocalSearch::best_choice(std::size_t j, double price) const {
  const SearchJob& job = problem_.jobs[j];
  const Costs& costs = costs_[j];
  Choice best{costs.one_node[0], {}, false};
  if (current_fits(j)) {
    const RowSize size = size_of(job.current);
    const double value = costs.current + price * size.workers;
    if (value < best.value) best = {value, size, true};
  }
  if (job.stays) return best;
  const std::uint32_t widest = rooms_.empty() ? 0 : *std::max_element(rooms_.begin(), rooms_.end());
  for (std::uint32_t r = job.least; r <= widest && r < costs.one_node.size(); ++r) {
    const double value = costs.one_node[r] + price * r;
    if (value < best.value) best = {value, {r, 1}, false};
  }
  std::uint32_t together = 0;
  for (const std::size_t n : open_) together += rooms_[n];
  const auto end = std::min<std::size_t>(together + 1, costs.several.size());
  for (std::uint32_t r = std::max({job.least, widest + 1, 2U}); r < end; ++r) {
    const double value = costs.several[r] + price * r;
    if (value < best.value) best = {value, {r, 2}, false};
  }
  return best;
}

void LocalSearch::put_best(std::size_t job, double price, Rng& rng) {
  look_for_rooms(job);
  const Choice best = best_choice(job, price);
  if (best.current) return put(job, problem_.jobs[job].current);
  if (best.size.workers > 0) put(job, row_of(job, best.size, rng));
}

Row LocalSearch::row_of(std::size_t, RowSize size, Rng& rng) const {
  return size.nodes > 1 ? several_row(size.workers, rng) : one_node_row(size.workers, rng);
}

/// The node with the least room that has enough, unless chance has it otherwise.
Row LocalSearch::one_node_row(std::uint32_t workers, Rng& rng) const {
  Row row(rooms_.size(), 0);
  const bool anywhere = rng.uniform() < kAnywhere;
  std::size_t chosen = kNobody;
  std::uint32_t seen = 0;
  for (std::size_t n = 0; n < rooms_.size(); ++n) {
    if (rooms_[n] < workers) continue;
    const bool better = chosen == kNobody || rooms_[n] < rooms_[chosen];
    if (anywhere ? rng.below(++seen) == 0 : better) chosen = n;
  }
  row[chosen] = static_cast<std::uint16_t>(workers);
  return row;
}

/// Whole nodes, the largest first, and for the rest the one with the least room that has enough.
Row LocalSearch::several_row(std::uint32_t workers, Rng& rng) const {
  Row row(rooms_.size(), 0);
  std::vector<std::size_t> nodes = open_;
  if (rng.uniform() < kAnywhere) {
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[rng.below(i)]);
  }
  std::size_t i = 0;
  for (; i < nodes.size() && workers >= rooms_[nodes[i]]; ++i) {
    row[nodes[i]] = static_cast<std::uint16_t>(rooms_[nodes[i]]);
    workers -= rooms_[nodes[i]];
  }
  if (workers == 0) return row;
  std::size_t tightest = nodes[i];
  for (; i < nodes.size(); ++i) {
    if (rooms_[nodes[i]] >= workers && rooms_[nodes[i]] < rooms_[tightest]) tightest = nodes[i];
  }
  row[tightest] = static_cast<std::uint16_t>(workers);
  return row;
}

/// All jobs of some nodes and one from elsewhere, or some wherever they are.
std::vector<std::size_t> LocalSearch::chosen_jobs(Rng& rng) const {
  const std::size_t count = problem_.jobs.size();
  std::vector<std::size_t> chosen;
  if (rng.uniform() < kByNodes) {
    const std::size_t nodes = 1 + rng.below(3);
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t n = rng.below(free_.size());
      for (std::size_t j = 0; j < count; ++j) {
        if (rows_[j][n] > 0) chosen.push_back(j);
      }
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
  Row row = rows_[job];
  const RowSize size = size_of(row);
  if (size.workers <= problem_.jobs[job].least || problem_.jobs[job].stays) return;
  std::uint64_t left = rng.below(size.nodes);
  std::size_t node = 0;
  while (row[node] == 0 || left-- > 0) ++node;
  const std::uint32_t most =
      std::min<std::uint32_t>(row[node], size.workers - problem_.jobs[job].least);
  row[node] -= static_cast<std::uint16_t>(1 + rng.below(most));
  take_out(job);
  put(job, row);
}

/// The job and those that are in the way of its having what it has now.
std::vector<std::size_t> LocalSearch::in_the_way(std::size_t job) const {
  const SearchJob& of = problem_.jobs[job];
  const bool several = size_of(of.current).nodes > 1;
  std::vector<std::size_t> found{job};
  for (std::size_t n = 0; n < of.current.size(); ++n) {
    if (of.current[n] == 0) continue;
    std::uint32_t free = free_[n] + of.units[n] * rows_[job][n];
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const bool barred = several && several_[n] == j;
      const bool short_of_room = free < of.units[n] * of.current[n];
      if (j == job || rows_[j][n] == 0 || !(barred || short_of_room)) continue;
      free += problem_.jobs[j].units[n] * rows_[j][n];
      if (std::find(found.begin(), found.end(), j) == found.end()) found.push_back(j);
    }
  }
  return found;
}

void LocalSearch::try_move(Rng& rng) {
  const double kind = rng.uniform();
  const std::size_t drawn = rng.below(rows_.size());
  const bool apart = rows_[drawn] != problem_.jobs[drawn].current && costs_[drawn].current < kNever;
  if (kind < kGoingBack && apart && size_of(problem_.jobs[drawn].current).workers > 0) {
    std::vector<std::size_t> chosen = in_the_way(drawn);
    // Those who lose their places may need more than what the job leaves.
    for (std::uint64_t others = rng.below(3); others > 0; --others) {
      const std::size_t other = rng.below(rows_.size());
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
  std::vector<Row> before;
  double was = 0;
  for (const std::size_t j : chosen) {
    before.push_back(rows_[j]);
    was += cost_of_[j];
  }
  if (chosen.size() == 1 && first == First::leaves_room) first = First::is_put;
  const std::size_t from = first == First::is_put ? 0 : 1;
  for (std::size_t i = first == First::leaves_room ? 1 : 0; i < chosen.size(); ++i) {
    take_out(chosen[i]);
  }
  if (first == First::leaves_room) make_room(chosen[0], rng);
  if (first == First::has_current && current_fits(chosen[0])) {
    put(chosen[0], problem_.jobs[chosen[0]].current);
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
  for (std::size_t i = 0; i < chosen.size(); ++i) put(chosen[i], before[i]);
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
