#include "schedulers/packing/colocation_memory.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "schedulers/saved_text.hpp"

namespace muster {
namespace {

using nlohmann::json;

/// Keeps observations in a co-location table.
class TableLearner final : public ThroughputLearner {
 public:
  TableLearner(ColocationTable& table, AttributionRules rules) : table_(table), rules_(rules) {}

  void learn(ClassId task, std::span<const ClassId> neighbours, double throughput,
             std::uint64_t times) override {
    table_.record(task, neighbours, throughput, times);
  }
  void learn_gang(std::span<const GangPlace> places, double throughput,
                  std::uint64_t times) override {
    table_.record_gang(places, throughput, rules_, times);
  }

 private:
  ColocationTable& table_;
  AttributionRules rules_;
};

std::optional<ClassId> class_of(const json& name, const ClusterState& state) {
  const auto text = loaded_text(name);
  return text ? state.classes().find(*text) : std::nullopt;
}

/// Null when some class of the entry has been forgotten: it says nothing of any task to come.
json words_of_entry(const ColocationEntry& entry, const ClassTable& classes) {
  const std::string* task = classes.name(entry.task);
  json neighbours = json::array();
  for (ClassId id : entry.neighbours) {
    const std::string* name = classes.name(id);
    if (name == nullptr) return nullptr;
    neighbours.push_back(saved_text(*name));
  }
  if (task == nullptr) return nullptr;
  return {saved_text(*task), neighbours, entry.mean, entry.observations};
}

/// The entry of a line of the table; nothing when it is malformed, or of unknown classes.
std::optional<ColocationEntry> entry_of(const json& line, const ClusterState& state) {
  if (!line.is_array() || line.size() != 4 || !line[1].is_array()) return std::nullopt;
  if (!line[2].is_number() || !line[3].is_number_unsigned()) return std::nullopt;
  const auto task = class_of(line[0], state);
  if (!task) return std::nullopt;
  ColocationEntry entry{*task, {}, line[2].get<double>(), line[3].get<std::uint64_t>()};
  // A share of throughput outside [0, 1], or a mean of nothing, would poison every later product.
  if (!(entry.mean >= 0 && entry.mean <= 1) || entry.observations == 0) return std::nullopt;
  for (const json& name : line[1]) {
    const auto neighbour = class_of(name, state);
    if (!neighbour) return std::nullopt;
    entry.neighbours.push_back(*neighbour);
  }
  std::sort(entry.neighbours.begin(), entry.neighbours.end());
  return entry;
}

}  // namespace

bool ColocationMemory::learn(const Measured& measured, const ClusterState& state) {
  const std::uint64_t before = table_.version();
  TableLearner learner(table_, rules_.attribution);
  intake_.record(measured, state, learner);
  const bool changed = table_.version() != before;
  forgetting_.look(table_.sets(), [&] {
    const ClassTable& classes = state.classes();
    table_.keep([&](ClassId id) { return classes.name(id) != nullptr; });
    return table_.sets();
  });
  return changed;
}

json ColocationMemory::words(const ClusterState& state) const {
  json lines = json::array();
  for (const ColocationEntry& entry : table_.entries()) {
    json line = words_of_entry(entry, state.classes());
    if (!line.is_null()) lines.push_back(std::move(line));
  }
  return lines;
}

bool ColocationMemory::restore(const json& words, const ClusterState& state) {
  std::vector<ColocationEntry> entries;
  for (const json& line : words) {
    // Text of another cluster or a damaged one: nothing of it is taken over.
    auto entry = entry_of(line, state);
    if (!entry) return false;
    entries.push_back(std::move(*entry));
  }
  ColocationTable table(rules_.default_pair);
  table.restore(entries);
  table_ = std::move(table);
  return true;
}

std::string ColocationMemory::save(const ClusterState& state) const {
  return json{{"colocation", words(state)}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool ColocationMemory::load(std::string_view text, const ClusterState& state) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("colocation") || !all["colocation"].is_array())
    return false;
  return restore(all["colocation"], state);
}

}  // namespace muster
