#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/events/event_json.hpp"
#include "storage/stores/recovery.hpp"
#include "storage/stores/store_backup.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_roster.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/store_fold.hpp"
#include "tools/cli/store_salvage.hpp"

// Commands for stores: check, dump, backup, restore and salvage, and the roster. All but those that
// make a store and `roster` open for reading and may run beside the node whose store it is.

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct StoreOptionsGiven {
  std::string directory;
  std::string json;
  std::string what = "events";
  bool folds = false;
  std::string policy;
};

/// The stores below a folder that is not a store; the first few, from not far below.
std::vector<std::string> stores_below(const fs::path& folder) {
  constexpr int kDeepest = 3;
  constexpr std::size_t kMostLooked = 10'000;
  constexpr std::size_t kMostNamed = 5;
  const auto is_store = [](const fs::path& path) {
    std::error_code bad;
    return fs::exists(path / "CURRENT", bad);
  };
  std::vector<std::string> found;
  if (is_store(folder)) return found;
  std::error_code bad;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, bad);
  for (std::size_t looked = 0; !bad && at != fs::end(at) && looked < kMostLooked; ++looked) {
    if (at->is_directory(bad) && is_store(at->path())) found.push_back(at->path().string());
    if (found.size() == kMostNamed) break;
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    at.increment(bad);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Of any kind and cluster: the store's own record is used.
std::unique_ptr<Store> open_to_read(const std::string& directory) {
  if (const auto below = stores_below(directory); !below.empty()) {
    complain(fmt::format("{}: is no store itself; there {} below it: {}", directory,
                         below.size() == 1 ? "is one" : "are some", fmt::join(below, ", ")));
    return nullptr;
  }
  StoreOptions options;
  options.read_only = true;
  // The metadata are those of the store: without expected ones no difference is possible.
  auto store = Store::open(directory, options);
  if (store) return std::move(store).value();
  complain(store.error().message);
  return nullptr;
}

Json counts_of(const StoreReport& report) {
  return {{"kind", report.meta.kind},
          {"cluster", report.meta.cluster},
          {"instance_types", report.meta.catalog.size()},
          {"first_event", report.first_event},
          {"next_event", report.next_event},
          {"batches", report.batches},
          {"snapshots", report.snapshots},
          {"snapshot_at", report.snapshot_at},
          {"unfinished_jobs", report.state.jobs},
          {"unfinished_tasks", report.state.tasks},
          {"rented_instances", report.state.instances},
          {"ledger_usd", report.state.total.usd()},
          {"history", report.history},
          {"objects", report.objects},
          {"handoffs", report.handoffs},
          {"tokens", report.tokens},
          {"ended_at_site", report.ended},
          {"open_cancels", report.cancels},
          {"instance_records", report.instances}};
}

int run_check(const StoreOptionsGiven& given) {
  const auto store = open_to_read(given.directory);
  if (!store) return kFailed;
  StoreReport report = check_store(*store);
  Json document = counts_of(report);
  StoreFold fold;
  if (given.folds) {
    fold = fold_store(*store, given.policy);
    report.problems.insert(report.problems.end(), fold.problems.begin(), fold.problems.end());
  }
  // With `--json -` standard output is the document alone.
  if (given.json != "-") {
    for (const auto& [name, value] : document.items()) {
      std::cout << fmt::format("{:<17} {}\n", name,
                               value.is_string() ? value.get<std::string>() : value.dump());
    }
    for (const std::string& line : fold.lines) std::cout << line << "\n";
    for (const std::string& problem : report.problems) std::cout << "problem: " << problem << "\n";
    std::cout << (report.problems.empty() ? "all is well\n" : "");
  }
  if (given.folds) document["folds"] = fold.document;
  document["problems"] = report.problems;
  const int outcome = report.problems.empty() ? kDone : kFailed;
  if (given.json.empty()) return outcome;
  const auto write = [&](std::ostream& out) {
    out << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  };
  return write_output(given.json, write) ? outcome : kFailed;
}

/// The job as the event log has it.
Json json_of(const Job& job, const Catalog& catalog) {
  std::string text;
  append_json(Event{Instant{}, JobAccepted{job}}, catalog, text);
  Json made = Json::parse(text);
  // The event is only a wrapper to write a job by the members that all formats share.
  made.erase("t");
  made.erase("event");
  return made;
}

Json seconds(const std::optional<Instant>& at) {
  return at ? Json(to_seconds(*at)) : Json();
}

// A task that was never placed has no type.
std::string type_name(TypeId type, const Catalog& catalog) {
  return type.valid() ? catalog[type].name : "";
}

Json json_of(const TaskHistory& task, const Catalog& catalog) {
  return {{"attempts", task.attempts},
          {"finished", task.finished},
          {"moves", task.moves},
          {"failures", task.failures},
          {"reason", task.reason},
          {"instance", task.instance.valid() ? Json(task.instance.value) : Json()},
          {"type", type_name(task.type, catalog)},
          {"started_at_s", seconds(task.started_at)},
          {"ended_at_s", seconds(task.ended_at)},
          {"exit_code", task.end.exit_code},
          {"cost_usd", task.cost.usd()}};
}

Json json_of(const JobHistory& history, const Catalog& catalog) {
  Json tasks = Json::array();
  for (const TaskHistory& task : history.tasks) tasks.push_back(json_of(task, catalog));
  return {{"job", json_of(history.job, catalog)},
          {"outcome", name_of(history.outcome)},
          {"accepted_at_s", to_seconds(history.accepted_at)},
          {"over_at_s", to_seconds(history.over_at)},
          {"mean_throughput", history.mean_throughput},
          {"tasks", tasks}};
}

Json json_of(const RentedRecord& rented) {
  return {{"instance", rented.instance.value},
          {"type", rented.type},
          {"market", name_of(rented.market)},
          {"zone", rented.zone},
          {"price_usd_h", rented.price.usd_h()},
          {"max_price_usd_h", rented.max_price.usd_h()},
          {"ordered_at_s", to_seconds(rented.ordered_at)},
          {"up_at_s", seconds(rented.up_at)},
          {"gone_at_s", seconds(rented.gone_at)},
          {"notice_s", seconds(rented.notice)},
          {"refused", rented.refused},
          {"ending", rented.ending},
          {"reason", name_of(rented.reason)},
          {"billed_usd", rented.gone_at ? Json(charge_of(rented, *rented.gone_at).usd()) : Json()},
          {"machine", rented.machine}};
}

Json json_of(const MasterSnapshot& snapshot) {
  const ClusterState& state = snapshot.state;
  Json jobs = Json::array();
  for (const JobRow& row : state.jobs()) {
    jobs.push_back({{"job", row.job.id.value},
                    {"name", row.job.name},
                    {"user", row.job.user},
                    {"tasks", row.tasks.size()},
                    {"pending", row.pending},
                    {"held", row.held},
                    {"running", row.running},
                    {"finished", row.finished}});
  }
  Json instances = Json::array();
  for (const InstanceRow& row : state.instances()) {
    instances.push_back({{"instance", row.id.value},
                         {"type", type_name(row.type, state.catalog())},
                         {"market", name_of(row.market)},
                         {"up", row.up},
                         {"released", row.released},
                         {"occupants", row.occupants.size()},
                         {"planned", row.planned.size()}});
  }
  return {{"jobs", jobs},
          {"instances", instances},
          {"ledger_usd", snapshot.ledger.total().usd()},
          {"next_instance", snapshot.next_instance},
          {"rounds", snapshot.rounds},
          {"learnt_bytes", snapshot.policy_state.size()}};
}

/// Prints one line a record of the family; false after a complaint.
bool dump_family(const Store& store, Family family,
                 const std::function<Expected<Json, StoreError>(std::string_view)>& decode) {
  bool good = true;
  const auto use = [&](std::string_view, std::string_view value) {
    const auto line = decode(value);
    if (line) {
      std::cout << line->dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    } else {
      complain(std::string(name_of(family)) + ": " + line.error().message);
      // Goes on: a dump is for finding out what is still there.
      good = false;
    }
    // True goes on with the scan.
    return true;
  };
  const auto trouble = store.scan(family, {}, use);
  if (trouble) complain(trouble->message);
  return good && !trouble;
}

/// Lets one function print what decodes to different types: errors pass, values become JSON.
template <class Value, class Convert>
Expected<Json, StoreError> converted(const Expected<Value, StoreError>& value, Convert convert) {
  if (!value) return value.error();
  return Json(convert(value.value()));
}

bool dump_events(const Store& store) {
  const Catalog& catalog = store.meta().catalog;
  std::string text;
  // The same header as that of an event log, so that the tools for logs read the dump.
  append_json(LogHeader{store.meta().kind, 0, catalog}, text);
  std::cout << text;
  const auto trouble = read_journal(store, catalog, [&](std::uint64_t, std::vector<Event>&& batch) {
    // One buffer for all batches: a journal may have millions of them.
    text.clear();
    for (const Event& event : batch) append_json(event, catalog, text);
    std::cout << text;
  });
  if (trouble) complain(trouble->message);
  return !trouble;
}

bool dump_meta(const Store& store) {
  const auto roster = load_roster(store);
  if (!roster) {
    complain(roster.error().message);
    return false;
  }
  Json types = Json::array();
  for (const InstanceType& type : store.meta().catalog.types()) types.push_back(type.name);
  std::cout << Json{{"kind", store.meta().kind},
                    {"cluster", store.meta().cluster},
                    {"instance_types", types},
                    {"sites", roster->sites},
                    {"masters", roster->masters}}
                   .dump()
            << "\n";
  return true;
}

bool dump(const Store& store, const std::string& what) {
  const Catalog& catalog = store.meta().catalog;
  if (what == "events") return dump_events(store);
  if (what == "meta") return dump_meta(store);
  if (what == "snapshot") {
    return dump_family(store, Family::snapshot, [&](std::string_view bytes) {
      return converted(decode_snapshot(bytes, catalog), [](const auto& v) { return json_of(v); });
    });
  }
  if (what == "history") {
    return dump_family(store, Family::history, [&](std::string_view bytes) {
      return converted(decode_history(bytes, catalog),
                       [&](const auto& v) { return json_of(v, catalog); });
    });
  }
  if (what == "handoffs") {
    return dump_family(store, Family::handoff, [&](std::string_view bytes) {
      return converted(decode_handoff(bytes), [&](const Handoff& v) {
        return Json{{v.to.site ? "site" : "master", v.to.index}, {"job", json_of(v.job, catalog)}};
      });
    });
  }
  return dump_family(store, Family::instance, [&](std::string_view bytes) {
    return converted(decode_rented(bytes), [](const auto& v) { return json_of(v); });
  });
}

/// Gives the store at `to` the numbers that the one at `from` has.
int run_roster(const std::string& from, const std::string& to) {
  // Both are read before one is opened for writing: until then a refusal leaves the target
  // untouched.
  const auto source = open_to_read(from);
  const auto target = open_to_read(to);
  if (!source || !target) return kFailed;
  const auto roster = load_roster(*source);
  if (!roster) return complain(roster.error().message), kFailed;
  if (roster->empty()) return complain(from + " has no roster"), kFailed;
  // Numbers of another cluster would make its jobs' ids clash with those of this one.
  if (source->meta().cluster != target->meta().cluster) {
    complain(from + " is of cluster \"" + source->meta().cluster + "\", " + to + " of cluster \"" +
             target->meta().cluster + "\"");
    return kFailed;
  }
  const auto obstacle = obstacle_to(roster.value(), *target);
  if (!obstacle) return complain(obstacle.error().message), kFailed;
  if (!obstacle->empty()) {
    complain(to + " cannot have the roster of " + from + ": " + obstacle.value());
    return kFailed;
  }
  StoreOptions options;
  // The target's own metadata: opening with others is refused.
  options.meta = target->meta();
  // A folder that was removed since it was read must not become a new, empty store.
  options.may_make = false;
  auto writable = Store::open(to, options);
  if (!writable) return complain(writable.error().message), kFailed;
  const auto trouble = keep_roster(*writable.value(), roster.value());
  if (trouble) return complain(trouble->message), kFailed;
  std::cout << to << " has the numbers of " << from << "\n";
  return kDone;
}

/// Prints the faults of the store in the folder; false after a complaint.
bool is_well(const std::string& directory) {
  const auto store = open_to_read(directory);
  if (!store) return false;
  const StoreReport report = check_store(*store);
  for (const std::string& problem : report.problems) complain(directory + ": " + problem);
  return report.problems.empty();
}

int run_copy(const std::string& from, const std::string& to, CopyFor purpose) {
  std::string whose;  // a backup of another role would be refused when its node starts
  {
    const auto source = open_to_read(from);
    if (!source) return kFailed;
    whose = ", the store of " + source->meta().kind + " of cluster " + source->meta().cluster;
    if (const auto trouble = copy_store(*source, to, purpose)) {
      complain(trouble->message);
      return kFailed;
    }
  }
  // The copy is read as a whole, after the source is closed: a backup that cannot be used is told
  // at once and not when it is needed.
  if (!is_well(to)) return kFailed;
  std::cout << (purpose == CopyFor::use ? "restored " + to + " from " + from
                                        : "backed up " + from + " to " + to)
            << whose << "\n";
  return kDone;
}

void add_copies(CLI::App& store, int& exit_code) {
  const auto add = [&](const std::string& name, const std::string& says, CopyFor purpose) {
    CLI::App* command = store.add_subcommand(name, says);
    auto from = std::make_shared<std::string>();
    auto to = std::make_shared<std::string>();
    const bool restores = purpose == CopyFor::use;
    command->add_option("from", *from, restores ? "the backup" : "store of a node, running or not")
        ->required();
    command->add_option("to", *to, "a folder that is not there yet, or empty")->required();
    command->callback(
        [from, to, purpose, &exit_code] { exit_code = run_copy(*from, *to, purpose); });
  };
  add("backup", "Copy a store as it is now, while its node goes on", CopyFor::keeping);
  add("restore", "Make a store of a backup, in the place of one that is lost", CopyFor::use);
}

}  // namespace

void add_store(CLI::App& app, int& exit_code) {
  CLI::App* store = app.add_subcommand(
      "store", "Look into the store of a node, running or not; back it up and restore it");
  store->require_subcommand(1);
  auto given = std::make_shared<StoreOptionsGiven>();
  CLI::App* check = store->add_subcommand("check", "Verify that every record can be used");
  check->add_option("directory", given->directory, "the store")->required();
  add_json_option(*check, given->json, "the findings");
  CLI::Option* folds = check->add_flag(
      "--fold", given->folds,
      "replay the events of a master's store as its start does, and say under which "
      "policies one would come up; and audit what was done to services");
  check
      ->add_option("--policy", given->policy,
                   "fold under this policy only, as master.policy names it; without: under each")
      ->needs(folds);
  check->callback([given, &exit_code] { exit_code = run_check(*given); });
  CLI::App* dump_command = store->add_subcommand("dump", "Print records, a line of JSON each");
  dump_command->add_option("directory", given->directory, "the store")->required();
  dump_command->add_option("--what", given->what, "which records")
      ->capture_default_str()
      ->check(CLI::IsMember({"events", "snapshot", "history", "handoffs", "instances", "meta"}));
  // Accepted as all commands take `--json`: a script need not know that this one always does.
  dump_command->add_flag_callback(
      "--json", [] {}, "changes nothing: the lines are JSON");
  dump_command->callback([given, &exit_code] {
    const auto opened = open_to_read(given->directory);
    exit_code = opened && dump(*opened, given->what) ? kDone : kFailed;
  });
  CLI::App* roster = store->add_subcommand(
      "roster", "Give a node's store the numbers of sites and masters that another store has");
  auto target = std::make_shared<std::string>();
  roster->add_option("from", given->directory, "store of a node that the others agree with")
      ->required();
  roster->add_option("to", *target, "store of a node that is down")->required();
  roster->callback(
      [given, target, &exit_code] { exit_code = run_roster(given->directory, *target); });
  add_copies(*store, exit_code);
  add_salvage(*store, exit_code);
}

}  // namespace muster::cli
