#include "replay/workload/training_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>
#include <vector>

#include "config/csv.hpp"

namespace muster::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::array<CsvColumn, 4> kPlacementColumns = {
    {{"placement", true}, {"local_bsz", true}, {"step_time", true}, {"sync_time", true}}};
constexpr std::array<CsvColumn, 5> kScalabilityColumns = {{{"num_nodes", true},
                                                           {"num_replicas", true},
                                                           {"local_bsz", true},
                                                           {"step_time", false},
                                                           {"sync_time", false}}};
constexpr std::array<CsvColumn, 5> kValidationColumns = {{{"progress", true},
                                                          {"iteration", false},
                                                          {"metric", false},
                                                          {"grad_sqr", true},
                                                          {"grad_var", true}}};
constexpr std::array<CsvColumn, 6> kGridColumns = {{{"class", true},
                                                    {"num_nodes", true},
                                                    {"num_replicas", true},
                                                    {"local_bsz", true},
                                                    {"step_time", true},
                                                    {"sync_time", true}}};
constexpr std::array<CsvColumn, 7> kCalibrationColumns = {{{"class", true},
                                                           {"osdi21_slowdown", true},
                                                           {"osdi21_rescale_s", true},
                                                           {"osdi21_max_local_bsz_override", true},
                                                           {"sia23_slowdown", true},
                                                           {"sia23_rescale_s", true},
                                                           {"sia23_max_local_bsz", true}}};

constexpr NumberRange kBatch{.low = 1, .high = 1U << 24, .whole = true};
constexpr NumberRange kPassTime{.low = 0, .high = 1e6, .above_low = true};
constexpr NumberRange kSyncTime{.low = 0, .high = 1e6};
constexpr NumberRange kProgress{.low = 0, .high = 1e15, .above_low = true};
constexpr NumberRange kGradient{.low = 0, .high = 1e18};
constexpr NumberRange kSlowdown{.low = 0, .high = 1e3, .above_low = true};
constexpr NumberRange kGridNodes{.low = kPlacedNodes + 1, .high = kMeasuredNodes, .whole = true};
constexpr NumberRange kWorkers{.low = 1, .high = kMeasuredNodes * kWorkersOfNode, .whole = true};
constexpr Duration kLongestRescale = std::chrono::hours{24};

constexpr std::string_view kValidationBegin = "validation-";
constexpr std::string_view kCsvEnd = ".csv";

/// The class that both simulators hold at one worker and one batch, made of two passes.
constexpr std::string_view kPinnedClass = "ncf";
constexpr std::uint32_t kPinnedTotal = 32768;

using Problem = std::optional<Failure<ConfigError>>;

/// The largest local batches that were measured beyond kPlacedNodes, by nodes and workers.
using LargestBatches = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

/// A profile while it is read.
struct DraftProfile {
  TrainingProfile profile;
  LargestBatches largest;
};
using DraftProfiles = std::map<std::string, DraftProfile, std::less<>>;

/// Calls `use` with a reader turned to each row. Rows that are wrong go to the errors.
template <class Use>
Problem read_rows(const fs::path& file, std::span<const CsvColumn> columns, ErrorList& errors,
                  const Use& use) {
  auto stream = CsvStream::open(file);
  if (!stream) return stream.error();
  CsvReader reader(stream.value(), columns, errors);
  // A grid is long: with a screen of errors there is no need for more.
  while (errors.size() < kShownErrors) {
    const auto row = stream->next();
    if (!row) return row.error();
    if (row.value() == nullptr) break;
    if (reader.select(*row.value())) use(reader);
  }
  return std::nullopt;
}

std::uint32_t whole(CsvReader& row, std::string_view column, const NumberRange& range) {
  return static_cast<std::uint32_t>(row.number(column, range));
}

/// Adds the pass that a row tells of to its curve.
void read_pass(CsvReader& row, PassCurve& curve) {
  const PassCurve::Point point{.local_batch = whole(row, "local_bsz", kBatch),
                               .step_s = row.number("step_time", kPassTime),
                               .sync_s = row.number("sync_time", kSyncTime)};
  if (point.sync_s >= point.step_s) {
    row.complain("sync_time", "has to be less than step_time, of which it is a part");
  } else if (!curve.empty() && point.local_batch <= curve.largest()) {
    row.complain("local_bsz", fmt::format("rows of one placement come by rising local_bsz; after "
                                          "{} comes {}",
                                          curve.largest(), point.local_batch));
  } else {
    curve.add(point);
  }
}

/// Nothing, with an error, when the text is no placement of a measured kind.
std::optional<std::uint32_t> read_placement(CsvReader& row) {
  const std::string& text = row.needed_text("placement");
  WorkerCounts workers;
  for (const char digit : text) {
    const auto count = static_cast<std::uint32_t>(digit - '0');
    if (digit >= '1' && count <= kWorkersOfNode) workers.push_back(count);
  }
  if (text.empty()) return std::nullopt;
  if (workers.size() != text.size() || workers.size() > kPlacedNodes) {
    row.complain("placement", fmt::format("has to be 1 to {} digits from 1 to {}, the workers of "
                                          "each node; it is '{}'",
                                          kPlacedNodes, kWorkersOfNode, text));
    return std::nullopt;
  }
  return placement_code(workers);
}

Problem read_placements(const fs::path& file, TrainingProfile& profile, ErrorList& errors) {
  const auto problem = read_rows(file, kPlacementColumns, errors, [&](CsvReader& row) {
    if (const auto code = read_placement(row)) read_pass(row, profile.placed[*code]);
  });
  if (problem) return problem;
  const auto alone = profile.placed.find(placement_code(packed_workers(1)));
  if (alone == profile.placed.end() || alone->second.empty()) {
    errors.add({file.string()}, "placement", "has no row of one worker, which speedups are of");
    return std::nullopt;
  }
  profile.limits.local_min = alone->second.smallest();
  for (const auto& [code, curve] : profile.placed) {
    if (curve.empty()) continue;
    profile.limits.local_min = std::min(profile.limits.local_min, curve.smallest());
    profile.limits.local_max = std::max(profile.limits.local_max, curve.largest());
  }
  return std::nullopt;
}

/// The total batch in the name of a file; nothing when it is no validation file.
std::optional<std::uint32_t> batch_of_name(const std::string& name) {
  if (!name.starts_with(kValidationBegin) || !name.ends_with(kCsvEnd)) return std::nullopt;
  const auto batch = parse_whole(std::string_view(name).substr(
      kValidationBegin.size(), name.size() - kValidationBegin.size() - kCsvEnd.size()));
  if (!batch || !kBatch.contains(static_cast<double>(*batch))) return std::nullopt;
  return static_cast<std::uint32_t>(*batch);
}

/// Reads a run at one batch; `ends` becomes the least progress of all runs at each epoch's end.
Problem read_validation(const fs::path& file, std::uint32_t total, TrainingProfile& profile,
                        ErrorList& errors) {
  ValidatedBatch batch;
  batch.total = total;
  std::vector<double> ends;
  const auto problem = read_rows(file, kValidationColumns, errors, [&](CsvReader& row) {
    const double end = row.number("progress", kProgress);
    if (!ends.empty() && end <= ends.back()) {
      row.complain("progress", "has to rise from epoch to epoch");
    }
    ends.push_back(end);
    batch.noise.push_back(
        {.sqr = row.number("grad_sqr", kGradient), .var = row.number("grad_var", kGradient)});
  });
  if (problem) return problem;
  const bool is_first = profile.validated.empty();
  if (ends.empty() || (!is_first && ends.size() != profile.ends.size())) {
    errors.add({file.string()}, "",
               is_first ? "has to have a row for each epoch"
                        : fmt::format("has {} epochs, the class's other files have {}", ends.size(),
                                      profile.ends.size()));
    return std::nullopt;
  }
  if (is_first) profile.ends = ends;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    profile.ends[e] = std::min(profile.ends[e], ends[e]);
  }
  profile.validated.push_back(std::move(batch));
  return std::nullopt;
}

Problem read_scalability(const fs::path& file, LargestBatches& largest, ErrorList& errors) {
  return read_rows(file, kScalabilityColumns, errors, [&](CsvReader& row) {
    const std::uint32_t nodes = whole(row, "num_nodes", kGridNodes);
    std::uint32_t& batch = largest[{nodes, whole(row, "num_replicas", kWorkers)}];
    batch = std::max(batch, whole(row, "local_bsz", kBatch));
  });
}

/// Names in a folder, by the alphabet; empty when it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

Problem read_class(const fs::path& folder, DraftProfile& draft, ErrorList& errors) {
  TrainingProfile& profile = draft.profile;
  if (auto problem = read_scalability(folder / "scalability.csv", draft.largest, errors)) {
    return problem;
  }
  if (auto problem = read_placements(folder / "placements.csv", profile, errors)) return problem;
  std::map<std::uint32_t, fs::path> files;
  for (const fs::path& file : entries_of(folder)) {
    if (const auto total = batch_of_name(file.filename().string())) files.emplace(*total, file);
  }
  if (files.empty()) {
    errors.add({folder.string()}, "", "has no validation-BATCH.csv");
    return std::nullopt;
  }
  for (const auto& [total, file] : files) {
    if (auto problem = read_validation(file, total, profile, errors)) return problem;
  }
  profile.limits.initial = files.begin()->first;
  profile.limits.largest = files.rbegin()->first;
  if (profile.name == kPinnedClass) {
    profile.max_width = 1;
    profile.pinned_total = kPinnedTotal;
  }
  return std::nullopt;
}

Problem read_grid(const fs::path& file, DraftProfiles& profiles, ErrorList& errors) {
  return read_rows(file, kGridColumns, errors, [&](CsvReader& row) {
    const auto profile = profiles.find(row.needed_text("class"));
    const std::uint32_t nodes = whole(row, "num_nodes", kGridNodes);
    const NumberRange replicas{.low = static_cast<double>(nodes),
                               .high = static_cast<double>(nodes) * kWorkersOfNode,
                               .whole = true};
    const std::uint32_t workers = whole(row, "num_replicas", replicas);
    // Rows of classes without a profile may be there.
    if (profile != profiles.end()) read_pass(row, profile->second.profile.spread[{nodes, workers}]);
  });
}

void read_calibrated(CsvReader& row, TrainingCalibration calibration, TrainingProfile& profile) {
  const bool sia = calibration == TrainingCalibration::sia23;
  profile.slowdown = row.number(sia ? "sia23_slowdown" : "osdi21_slowdown", kSlowdown);
  profile.rescale_delay =
      row.seconds(sia ? "sia23_rescale_s" : "osdi21_rescale_s", kLongestRescale);
  const std::string_view limit = sia ? "sia23_max_local_bsz" : "osdi21_max_local_bsz_override";
  const double largest = row.number_or(limit, kBatch, profile.limits.local_max);
  profile.limits.local_max = static_cast<std::uint32_t>(largest);
  if (profile.limits.local_max < profile.limits.local_min) {
    row.complain(limit, fmt::format("is below the least local_bsz of the class, {}",
                                    profile.limits.local_min));
  }
  profile.agent_within_profiled = sia;
  profile.oracle_within_profiled = sia && row.has(limit);
}

Problem read_calibration(const fs::path& file, TrainingCalibration calibration,
                         DraftProfiles& profiles, ErrorList& errors) {
  std::map<std::string, bool, std::less<>> seen;
  const auto problem = read_rows(file, kCalibrationColumns, errors, [&](CsvReader& row) {
    const std::string& name = row.needed_text("class");
    if (!seen.emplace(name, true).second) {
      row.complain("class", fmt::format("'{}' has a row before", name));
    }
    const auto profile = profiles.find(name);
    if (profile != profiles.end()) read_calibrated(row, calibration, profile->second.profile);
  });
  if (problem) return problem;
  for (const auto& [name, draft] : profiles) {
    if (seen.contains(name)) continue;
    errors.add({file.string()}, "class", fmt::format("has no row for the class '{}'", name));
  }
  return std::nullopt;
}

/// One worker, against which all speedups are, has to have a batch that was measured.
void check_one_worker(const fs::path& folder, const TrainingProfile& profile, ErrorList& errors) {
  const PlacedWorkers alone{curve_of(profile, packed_workers(1)), 1};
  if (best_by_truth(profile, alone, 0).rate_per_s > 0) return;
  errors.add({(folder / "profiles" / profile.name / "placements.csv").string()}, "local_bsz",
             fmt::format("of one worker has no batch between {} and {} in all",
                         profile.limits.initial, profile.limits.largest));
}

/// Tells the curves beyond kPlacedNodes what was measured of as many nodes and workers, or more.
void bound_profiled(DraftProfile& draft) {
  for (auto& [kind, curve] : draft.profile.spread) {
    std::uint32_t largest = 0;
    for (const auto& [measured, batch] : draft.largest) {
      const bool holds = measured.first >= kind.first && measured.second >= kind.second;
      if (holds) largest = std::max(largest, batch);
    }
    if (largest > 0) curve.set_profiled_max(largest);
  }
}

/// Bounds the width by what was measured of packed workers and by what the largest batch feeds.
void bound_width(TrainingProfile& profile) {
  const std::uint32_t fed = std::max(profile.limits.largest / profile.limits.local_min, 1U);
  const std::uint32_t wanted = std::min(profile.max_width, fed);
  std::uint32_t width = 1;
  while (width < wanted && curve_of(profile, packed_workers(width + 1)) != nullptr) ++width;
  profile.max_width = width;
}

}  // namespace

Expected<TrainingProfiles, ConfigError> load_training_profiles(const fs::path& folder,
                                                               TrainingCalibration calibration) {
  DraftProfiles drafts;
  ErrorList errors;
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder / "profiles")) {
    if (!fs::is_directory(entry, ignored)) continue;
    const std::string name = entry.filename().string();
    DraftProfile& draft = drafts[name];
    draft.profile.name = name;
    if (auto problem = read_class(entry, draft, errors)) return *problem;
  }
  if (drafts.empty()) {
    return Failure<ConfigError>{
        ConfigError::unreadable,
        fmt::format("{}: has no folder of a class", (folder / "profiles").string())};
  }
  const fs::path grid = folder / "throughput_grid.csv";
  const fs::path calibrations = folder / "calibration.csv";
  if (auto problem = read_grid(grid, drafts, errors)) return *problem;
  if (auto problem = read_calibration(calibrations, calibration, drafts, errors)) return *problem;
  for (const auto& [name, draft] : drafts) {
    if (errors.empty()) check_one_worker(folder, draft.profile, errors);
  }
  if (!errors.empty()) {
    return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
  }
  TrainingProfiles profiles;
  for (auto& [name, draft] : drafts) {
    bound_profiled(draft);
    bound_width(draft.profile);
    profiles.emplace(name, std::make_shared<const TrainingProfile>(std::move(draft.profile)));
  }
  return profiles;
}

}  // namespace muster::replay
