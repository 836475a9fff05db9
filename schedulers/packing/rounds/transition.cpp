#include "schedulers/packing/rounds/transition.hpp"

#include <algorithm>

// Maps the bins of a configuration to instances in three steps of rising cost: complete matches, an
// assignment of the rest type by type, and then single tasks among seats of their kind.

namespace muster {
namespace {

/// Above this many bins or instances of one type the exact matching, which is cubic, takes too
/// long: 64 are some 260,000 steps.
constexpr std::size_t kExactLimit = 64;

}  // namespace

void Transition::run(const PresentPlaces& places, Configuration& configuration,
                     std::vector<std::uint32_t>& instance_of_bin) {
  instance_of_bin.assign(configuration.bins.size(), kUnassigned);
  taken_.assign(places.instances.size(), 0);
  list_residents(places);
  match_equal(places, configuration, instance_of_bin);
  match_rest(places, configuration, instance_of_bin);
  seat_tasks(places, configuration, instance_of_bin);
}

void Transition::list_residents(const PresentPlaces& places) {
  first_resident_.assign(places.instances.size() + 1, 0);
  std::uint32_t kinds = 0;
  for (std::size_t task = 0; task < places.home_of.size(); ++task) {
    kinds = std::max(kinds, places.kind_of[task] + 1);
    if (places.home_of[task] != kUnassigned) ++first_resident_[places.home_of[task] + 1];
  }
  for (std::size_t i = 1; i < first_resident_.size(); ++i) {
    first_resident_[i] += first_resident_[i - 1];
  }
  residents_.resize(first_resident_.back());
  // The offsets serve as cursors while residents are listed, which leaves each at the begin of the
  // next instance; the loop below moves them back by one.
  for (std::uint32_t task = 0; task < places.home_of.size(); ++task) {
    const std::uint32_t home = places.home_of[task];
    if (home != kUnassigned) residents_[first_resident_[home]++] = task;
  }
  for (std::size_t i = first_resident_.size() - 1; i > 0; --i) {
    first_resident_[i] = first_resident_[i - 1];
  }
  first_resident_[0] = 0;
  tally_.assign(kinds, 0);
}

std::uint32_t Transition::overlap(const PresentPlaces& places, std::span<const std::uint32_t> bin,
                                  std::uint32_t instance) {
  const std::span residents =
      std::span(residents_)
          .subspan(first_resident_[instance],
                   first_resident_[instance + 1] - first_resident_[instance]);
  // Equal kinds are interchangeable: per kind as many stay as both have. Only the entries touched
  // are zeroed, so that a call costs O(residents + tasks of the bin) and not O(kinds).
  for (std::uint32_t task : residents) ++tally_[places.kind_of[task]];
  std::uint32_t stay = 0;
  for (std::uint32_t task : bin) {
    std::uint32_t& left = tally_[places.kind_of[task]];
    if (left > 0) --left, ++stay;
  }
  for (std::uint32_t task : residents) tally_[places.kind_of[task]] = 0;
  return stay;
}

/// A bin and an instance with the same numbers of each kind belong together in some best matching:
/// no other partner keeps more tasks in place. Only the homes of the bin's own tasks are tried; an
/// instance that equals the bin by tasks of equal kinds, but holds no task of it, is left to
/// match_rest().
void Transition::match_equal(const PresentPlaces& places, const Configuration& configuration,
                             std::vector<std::uint32_t>& instance_of_bin) {
  for (std::size_t b = 0; b < configuration.bins.size(); ++b) {
    const Configuration::Bin& bin = configuration.bins[b];
    for (std::uint32_t task : configuration.tasks_of(bin)) {
      const std::uint32_t home = places.home_of[task];
      if (home == kUnassigned || taken_[home] || places.instances[home].type != bin.type) continue;
      const std::uint32_t count = first_resident_[home + 1] - first_resident_[home];
      if (count != bin.count) continue;
      if (overlap(places, configuration.tasks_of(bin), home) != bin.count) continue;
      taken_[home] = 1;
      instance_of_bin[b] = home;
      break;
    }
  }
}

void Transition::match_rest(const PresentPlaces& places, const Configuration& configuration,
                            std::vector<std::uint32_t>& instance_of_bin) {
  const auto by_type = [](const auto& list) {
    return [&list](std::uint32_t a, std::uint32_t b) { return list[a].type < list[b].type; };
  };
  std::vector<std::uint32_t> bins, free;
  for (std::uint32_t b = 0; b < instance_of_bin.size(); ++b) {
    if (instance_of_bin[b] == kUnassigned) bins.push_back(b);
  }
  for (std::uint32_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) free.push_back(i);
  }
  if (bins.empty() || free.empty()) return;
  // Both lists by type, and then walked side by side: tasks cannot stay on an instance of another
  // type.
  std::stable_sort(bins.begin(), bins.end(), by_type(configuration.bins));
  std::stable_sort(free.begin(), free.end(), by_type(places.instances));
  for (auto bin = bins.begin(), instance = free.begin(); bin != bins.end();) {
    const TypeId type = configuration.bins[*bin].type;
    open_bins_.clear();
    open_insts_.clear();
    for (; bin != bins.end() && configuration.bins[*bin].type == type; ++bin) {
      open_bins_.push_back(*bin);
    }
    while (instance != free.end() && places.instances[*instance].type < type) ++instance;
    for (; instance != free.end() && places.instances[*instance].type == type; ++instance) {
      open_insts_.push_back(*instance);
    }
    if (!open_insts_.empty()) match_type(places, configuration, instance_of_bin);
  }
}

void Transition::match_type(const PresentPlaces& places, const Configuration& configuration,
                            std::vector<std::uint32_t>& instance_of_bin) {
  const std::size_t rows = open_bins_.size();
  const std::size_t columns = open_insts_.size();
  if (std::max(rows, columns) > kExactLimit) {
    match_greedily(places, configuration, instance_of_bin);
    return;
  }
  // A task that stays counts for more than all instances that happen to be ready.
  const double stay_weight = static_cast<double>(std::min(rows, columns) + 1);
  std::vector<double> weights;
  for (std::uint32_t b : open_bins_) {
    const auto bin = configuration.tasks_of(configuration.bins[b]);
    for (std::uint32_t i : open_insts_) {
      weights.push_back(stay_weight * overlap(places, bin, i) +
                        (places.instances[i].ready ? 1 : 0));
    }
  }
  const std::vector<std::uint32_t> column_of = best_assignment(weights, rows, columns);
  for (std::size_t row = 0; row < rows; ++row) {
    if (column_of[row] == kUnassigned) continue;
    instance_of_bin[open_bins_[row]] = open_insts_[column_of[row]];
  }
}

std::uint32_t Transition::best_home(const PresentPlaces& places, const Configuration& configuration,
                                    const Configuration::Bin& bin) {
  std::uint32_t best = kUnassigned;
  std::uint32_t best_stay = 0;
  for (std::uint32_t task : configuration.tasks_of(bin)) {
    const std::uint32_t home = places.home_of[task];
    if (home == kUnassigned || taken_[home] || places.instances[home].type != bin.type) continue;
    const std::uint32_t stay = overlap(places, configuration.tasks_of(bin), home);
    if (stay > best_stay) best_stay = stay, best = home;
  }
  return best;
}

/// Each bin asks the homes of its own tasks; the others take what is left.
void Transition::match_greedily(const PresentPlaces& places, const Configuration& configuration,
                                std::vector<std::uint32_t>& instance_of_bin) {
  std::vector<std::uint32_t> rest;
  for (std::uint32_t b : open_bins_) {
    const std::uint32_t home = best_home(places, configuration, configuration.bins[b]);
    if (home == kUnassigned) {
      rest.push_back(b);
    } else {
      taken_[home] = 1;
      instance_of_bin[b] = home;
    }
  }
  std::size_t next = 0;
  for (std::uint32_t b : rest) {
    while (next < open_insts_.size() && taken_[open_insts_[next]]) ++next;
    if (next == open_insts_.size()) return;
    instance_of_bin[b] = open_insts_[next++];
  }
}

bool Transition::seat_at_home(const PresentPlaces& places, const Configuration& configuration,
                              std::uint32_t task) {
  const std::uint32_t home = places.home_of[task];
  const std::uint32_t b = home == kUnassigned ? kUnassigned : bin_of_[home];
  if (b == kUnassigned) return false;
  const Configuration::Bin& bin = configuration.bins[b];
  for (std::uint32_t at = bin.first; at < bin.first + bin.count; ++at) {
    if (seats_[at] != kUnassigned) continue;
    if (places.kind_of[configuration.tasks[at]] != places.kind_of[task]) continue;
    seats_[at] = task;
    return true;
  }
  return false;
}

void Transition::seat_tasks(const PresentPlaces& places, Configuration& configuration,
                            const std::vector<std::uint32_t>& instance_of_bin) {
  bin_of_.assign(places.instances.size(), kUnassigned);
  for (std::uint32_t b = 0; b < instance_of_bin.size(); ++b) {
    if (instance_of_bin[b] != kUnassigned) bin_of_[instance_of_bin[b]] = b;
  }
  seats_.assign(configuration.tasks.size(), kUnassigned);
  // Tasks that can stay are seated first, in the order in which the tasks are visited.
  order_ = configuration.tasks;
  std::sort(order_.begin(), order_.end());
  std::erase_if(order_,
                [&](std::uint32_t task) { return seat_at_home(places, configuration, task); });
  // The others take the seats that are left for their kind, in order.
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return places.kind_of[a] < places.kind_of[b];
  });
  // tally_ becomes the cursor of each kind in order_. Seats and tasks left are as many of each
  // kind, since both are the configuration's. list_residents() zeroes it for the next run.
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    const std::uint32_t kind = places.kind_of[order_[i]];
    if (i == 0 || kind != places.kind_of[order_[i - 1]]) tally_[kind] = i;
  }
  for (std::size_t at = 0; at < seats_.size(); ++at) {
    if (seats_[at] == kUnassigned) {
      seats_[at] = order_[tally_[places.kind_of[configuration.tasks[at]]]++];
    }
  }
  configuration.tasks.swap(seats_);
}

}  // namespace muster
