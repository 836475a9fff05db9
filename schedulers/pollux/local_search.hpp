#pragma once

#include <vector>

#include "model/rng.hpp"
#include "schedulers/policy.hpp"
#include "schedulers/pollux/search_problem.hpp"

namespace muster::pollux {

/// Looks for the layout of the best fitness by taking a few jobs out and putting each back where it
/// costs least at a price of a worker, the last one without a price; a worse result is undone.
/// Beyond the paper, which searches by a genetic algorithm.
class LocalSearch {
 public:
  explicit LocalSearch(const SearchProblem& problem);

  /// The best layout found with that number of moves, or until the budget is spent. It is feasible.
  Layout run(std::uint32_t moves, Rng& rng, Budget& budget);

 private:
  /// Cost of each width for one job, when that is a change.
  struct Costs {
    std::vector<double> one_node;  ///< of 0, 1, ... workers
    std::vector<double> several;
    double current = 0;
  };
  /// Workers of a job on one node.
  struct Place {
    std::uint32_t node = 0;
    std::uint16_t workers = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// A row without its zeros, in the order of nodes: clusters have many nodes, jobs are on few.
  using Places = std::vector<Place>;
  /// A width that a job may have in the room that there is.
  struct Choice {
    double value = 0;  ///< its cost, and the price of its workers
    RowSize size;
    bool current = false;
  };

  /// Treatment of the first of the jobs that are placed anew.
  enum class First : std::uint8_t { is_put, leaves_room, has_current };

  void begin(bool keep, Rng& rng);
  void put(std::size_t job, Places places);
  void take_out(std::size_t job);
  bool current_fits(std::size_t job) const;
  void look_for_rooms(std::size_t job);
  void put_best(std::size_t job, double price, Rng& rng);
  Choice best_choice(std::size_t job, double price) const;
  Places one_node(std::uint32_t workers, Rng& rng) const;
  Places several(std::uint32_t workers, Rng& rng) const;
  std::vector<std::size_t> chosen_jobs(Rng& rng) const;
  void make_room(std::size_t job, Rng& rng);
  std::vector<std::size_t> in_the_way(std::size_t job) const;
  std::uint32_t workers_there(std::size_t job, std::uint32_t node) const;
  void try_move(Rng& rng);
  void try_anew(const std::vector<std::size_t>& chosen, First first, Rng& rng);
  static Places places_of(const Row& row);
  static RowSize size_of(const Places& places);
  Layout layout_of(const std::vector<Places>& places) const;
  double going_price() const;
  double demand_at(double price, std::uint64_t enough) const;

  const SearchProblem& problem_;
  std::vector<Costs> costs_;
  std::vector<Places> current_;       ///< where each job is before the round
  std::vector<Places> places_;        ///< where it is now
  std::vector<double> cost_of_;       ///< of the places that each job has
  std::vector<std::uint32_t> free_;   ///< units of each node
  std::vector<std::size_t> several_;  ///< by node: the job there that has several nodes
  std::vector<std::vector<std::size_t>> on_node_;  ///< by node: the jobs there, in no order
  std::vector<std::uint32_t> rooms_;  ///< for the job that is looked at: workers of each node
  std::uint32_t widest_ = 0;          ///< of these rooms
  std::vector<std::size_t> open_;     ///< nodes that it may share among several, most room first
  double price_ = 0;                  ///< of a worker, about
};

}  // namespace muster::pollux
