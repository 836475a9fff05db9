#include "tools/cli/store_salvage.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "model/rounded_text.hpp"
#include "storage/stores/store_salvage.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The new store is made, and lacks something: apart from kFailed, with which no new store is made.
constexpr int kSomethingLost = 3;

struct SalvageGiven {
  std::string from, to, like, json;
};

Json numbers_of(const std::vector<JobId>& jobs) {
  Json numbers = Json::array();
  for (const JobId job : jobs) numbers.push_back(job.value);
  return numbers;
}

Json document_of(const SalvageReport& report) {
  Json kept = Json::object();
  for (std::size_t i = 0; i < kFamilies; ++i) {
    if (report.kept[i] > 0) kept[std::string(name_of(static_cast<Family>(i)))] = report.kept[i];
  }
  Json lost = Json::array();
  for (const SalvageLoss& loss : report.lost) {
    lost.push_back({{"where", loss.where},
                    {"what", loss.what},
                    {"job", loss.job ? Json(loss.job->value) : Json()}});
  }
  return {{"kind", report.meta.kind},
          {"cluster", report.meta.cluster},
          {"kept", kept},
          {"lost", lost},
          {"lost_not_named", report.not_named},
          {"lost_changes", report.lost_changes},
          {"next_event", report.next_event},
          {"lost_events", report.lost_events},
          {"held_jobs", numbers_of(report.held)},
          {"over_jobs", numbers_of(report.over)}};
}

std::string list_of(const std::vector<JobId>& jobs) {
  std::string list;
  for (const JobId job : jobs) list += fmt::format(" {}", job.value);
  return list;
}

void print(const SalvageReport& report, const SalvageGiven& given) {
  for (std::size_t i = 0; i < kFamilies; ++i) {
    if (report.kept[i] == 0) continue;
    std::cout << fmt::format("kept: {:<10} {}\n", name_of(static_cast<Family>(i)),
                             count_text(report.kept[i], "record"));
  }
  for (const SalvageLoss& loss : report.lost) {
    std::cout << fmt::format("lost: {}: {}{}\n", loss.where,
                             loss.job ? fmt::format("job {}: ", loss.job->value) : "", loss.what);
  }
  if (report.not_named > 0) std::cout << "lost: " << report.not_named << " more\n";
  if (!report.held.empty()) {
    std::cout
        << "held, for their tasks may have gone on since (muster release, when no task runs or "
           "has ended):"
        << list_of(report.held) << "\n";
  }
  if (!report.over.empty()) {
    std::cout << "over, as the history says, though the events of their ends are lost:"
              << list_of(report.over) << "\n";
  }
  std::cout << fmt::format("salvaged {} from {}, the store of {} of cluster {}: {}\n", given.to,
                           given.from, report.meta.kind, report.meta.cluster,
                           report.lost.empty() ? "nothing is lost" : "not all of it");
}

int run_salvage(const SalvageGiven& given) {
  const auto report = salvage_store({given.from, given.to, given.like});
  if (!report) return complain(report.error().message), kFailed;
  // With `--json -` standard output is the document alone.
  if (given.json != "-") print(report.value(), given);
  const int outcome = report->lost.empty() ? kDone : kSomethingLost;
  if (given.json.empty()) return outcome;
  const auto write = [&](std::ostream& out) {
    out << document_of(report.value()).dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  };
  return write_output(given.json, write) ? outcome : kFailed;
}

}  // namespace

void add_salvage(CLI::App& store, int& exit_code) {
  CLI::App* command = store.add_subcommand(
      "salvage", "Make a new store of what can be read of a damaged one, and say what is lost");
  auto given = std::make_shared<SalvageGiven>();
  command->add_option("store", given->from, "the damaged store; it is not changed")->required();
  command->add_option("--to", given->to, "a folder that is not there yet, or empty")->required();
  command->add_option("--like", given->like,
                      "another store of that role, such as an old backup: says whose the damaged "
                      "one is, when that cannot be read of it");
  add_json_option(*command, given->json, "the kept and the lost records");
  command->callback([given, &exit_code] { exit_code = run_salvage(*given); });
}

}  // namespace muster::cli
