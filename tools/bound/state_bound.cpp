#include "tools/bound/state_bound.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/rounded_text.hpp"
#include "storage/events/event_log.hpp"
#include "storage/stores/recovery.hpp"
#include "storage/stores/store.hpp"
#include "storage/stores/store_folder.hpp"
#include "tools/bound/bound_report.hpp"

namespace muster::bound {
namespace {

/// Sets of tasks that the search for whole instances looks at.
constexpr std::uint64_t kWholeNodes = 3'000'000;

Failure<NoBound> bad_input(const std::string& message) {
  return {NoBound::bad_input, message};
}

Expected<StateBound, NoBound> bound_of(const Catalog& catalog, const HostedTasks& hosted,
                                       Instant at, std::uint64_t nodes) {
  for (std::size_t i = 0; i < hosted.usd_h().size(); ++i) {
    if (hosted.usd_h()[i] > 0) continue;
    const std::string& name = catalog[TypeId{static_cast<std::uint32_t>(i)}].name;
    return Failure<NoBound>{NoBound::not_defined,
                            fmt::format("no bound: {} costs nothing, and with it all tasks", name)};
  }
  StateBound bound;
  bound.at = at;
  bound.now = hosting_now(catalog, hosted);
  bound.tasks = hosted.tasks();
  bound.instances = hosted.instances();
  bound.rented_usd_h = hosted.rented_usd_h();
  FluidLimits limits;
  limits.nodes = nodes;
  bound.divided = solve_fluid(bound.now.problem, limits);
  if (bound.tasks <= kWholeTasks) {
    bound.whole = solve_whole(bound.now.problem, bound.divided, kWholeNodes);
  }
  return bound;
}

Expected<StateBound, NoBound> bound_of_log(const std::filesystem::path& file,
                                           std::optional<Duration> at, std::uint64_t nodes) {
  const auto log = read_event_log(file);
  if (!log) return bad_input(log.error().message);
  HostedTasks hosted(log->header.catalog);
  const Instant end = log->events.empty() ? Instant{} : log->events.back().at;
  const Instant moment = at ? Instant{*at} : end;
  for (const Event& event : log->events) {
    if (event.at > moment) break;
    hosted.see(event);
  }
  auto bound = bound_of(log->header.catalog, hosted, moment, nodes);
  if (bound && moment >= end) bound->log_ends = end;
  return bound;
}

/// Whether the folder has any file of a database: the store itself says what is damaged.
bool holds_a_store(const std::filesystem::path& folder) {
  std::error_code failed;
  return std::filesystem::exists(folder / "CURRENT", failed) || !logs_in(folder).empty() ||
         !tables_in(folder).empty();
}

Expected<StateBound, NoBound> bound_of_store(const std::filesystem::path& folder,
                                             std::uint64_t nodes) {
  if (!holds_a_store(folder)) {
    return bad_input(folder.string() +
                     ": there is no store here; a master's is DIR/state/NODE/master of a cluster's "
                     "folder DIR");
  }
  StoreOptions options;
  options.read_only = true;
  const auto store = Store::open(folder, options);
  if (!store) return bad_input(store.error().message);
  const Catalog catalog = store.value()->meta().catalog;
  const auto found = recover_master(*store.value(), catalog);
  if (!found) return bad_input(found.error().message);
  // Events since the snapshot are told to the tasks that it has, and not to its state, which may
  // take a journal that makes sense only.
  HostedTasks hosted =
      found->snapshot ? HostedTasks(catalog, found->snapshot->state) : HostedTasks(catalog);
  Instant last = found->snapshot ? found->snapshot->newest : Instant{};
  for (const Event& event : found->tail) {
    hosted.see(event);
    last = event.at;
  }
  return bound_of(catalog, hosted, last, nodes);
}

/// Nothing where no task holds resources.
std::optional<double> above(double usd_h, double bound_usd_h) {
  if (bound_usd_h <= 0) return std::nullopt;
  return usd_h / bound_usd_h - 1;
}

}  // namespace

Expected<StateBound, NoBound> state_bound(const std::filesystem::path& path,
                                          std::optional<Duration> at, std::uint64_t nodes) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return bound_of_log(path, at, nodes);
  if (at) {
    return bad_input(path.string() +
                     ": a store is shown as it is now; --at takes an event log (--events of "
                     "muster replay)");
  }
  return bound_of_store(path, nodes);
}

std::string state_table(const StateBound& bound) {
  std::string text = fmt::format(
      "At {:.3f} s: {} with resources, of {}, on {}.\n\n{:<24} {:>12} {:>8}  "
      "{}\n",
      to_seconds(bound.at), count_text(bound.tasks, "task"),
      count_text(bound.now.problem.kinds.size(), "kind"), count_text(bound.instances, "instance"),
      "", "$/h", "above %", "");
  const auto row = [&](const char* name, double usd_h, const std::string& more) {
    const auto gap = above(usd_h, bound.divided.bound_usd);
    text += fmt::format("{:<24} {:>12.4f} {:>8}  {}\n", name, usd_h,
                        gap ? fmt::format("{:.2f}", 100 * *gap) : "-", more);
  };
  row("rented", bound.rented_usd_h, "");
  row("each alone", bound.now.alone_usd_h, "");
  if (bound.whole) {
    row("bound, whole instances", bound.whole->bound_usd_h,
        bound.whole->exact ? "exact" : "cut off: that of parts");
  }
  row("bound, parts of them", bound.divided.bound_usd, proof_of(bound.divided));
  if (bound.log_ends && bound.tasks == 0) {
    text += fmt::format("\nThe log ends at {:.3f} s; --at SECONDS looks at a moment before.\n",
                        to_seconds(*bound.log_ends));
  }
  if (bound.now.left_out > 0) {
    text += fmt::format("\n{} tasks are left out: no type holds them, or they take nothing.\n",
                        bound.now.left_out);
  }
  return text;
}

std::string state_json(const StateBound& bound) {
  nlohmann::ordered_json json{{"at_s", to_seconds(bound.at)},
                              {"tasks", bound.tasks},
                              {"kinds", bound.now.problem.kinds.size()},
                              {"left_out", bound.now.left_out},
                              {"instances", bound.instances},
                              {"rented_usd_h", bound.rented_usd_h},
                              {"alone_usd_h", bound.now.alone_usd_h},
                              {"bound_usd_h", bound.divided.bound_usd},
                              {"proof", proof_of(bound.divided)},
                              {"reached_usd_h", bound.divided.reached_usd},
                              {"above", nullptr},
                              {"whole_bound_usd_h", nullptr},
                              {"whole_exact", nullptr}};
  if (const auto gap = above(bound.rented_usd_h, bound.divided.bound_usd)) json["above"] = *gap;
  if (bound.whole) {
    json["whole_bound_usd_h"] = bound.whole->bound_usd_h;
    json["whole_exact"] = bound.whole->exact;
  }
  return json.dump(2) + "\n";
}

}  // namespace muster::bound
