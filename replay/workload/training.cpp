#include "replay/workload/training.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <numeric>

#include "config/csv.hpp"
#include "config/numbers.hpp"
#include "replay/workload/bursty_arrivals.hpp"
#include "replay/workload/training_profiles.hpp"
#include "replay/workload/training_truth.hpp"

// Elastic training jobs: a trace says when jobs of which class come, profiles say what is true of a
// class. Jobs of one class are alike.

namespace muster::replay {
namespace {

constexpr std::array<CsvColumn, 5> kTrainingColumns = {{{"name", true},
                                                        {"time", true},
                                                        {"application", true},
                                                        {"num_replicas", false},
                                                        {"batch_size", false}}};
constexpr Duration kLongestTrainingDelay = std::chrono::hours{24};
constexpr std::string_view kProgressUnit = "steps";
/// Of a family, relative to that on which jobs were measured.
constexpr double kGreatestSpeed = 1000;

/// The speeds by family of texts "FAMILY@SPEED".
Expected<std::map<std::string, double>, WorkloadError> speeds_of(
    const std::vector<std::string>& texts) {
  std::map<std::string, double> speeds;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('@');
    const auto speed = at == std::string::npos
                           ? std::nullopt
                           : parse_number(std::string_view(text).substr(at + 1));
    if (!speed || at == 0 || !(*speed > 0) || *speed > kGreatestSpeed) {
      return Failure<WorkloadError>{
          WorkloadError::invalid,
          fmt::format("workload.training.families has \"{}\", which is no FAMILY@SPEED with a "
                      "speed above 0 and up to {:g}, such as p3@3",
                      text, kGreatestSpeed)};
    }
    speeds[text.substr(0, at)] = *speed;
  }
  return speeds;
}

/// Makes jobs of the classes that there are.
class TrainingJobs {
 public:
  TrainingJobs(const WorkloadConfig& config, TrainingProfiles profiles,
               std::map<std::string, double> speeds)
      : config_(config),
        settings_(config.own.of<TrainingSettings>()),
        profiles_(std::move(profiles)),
        speeds_(std::move(speeds)) {}

  /// Nothing when the class has no profile.
  std::optional<JobDraft> make(const std::string& name);
  std::vector<std::string> classes() const {
    std::vector<std::string> names;
    for (const auto& [name, profile] : profiles_) names.push_back(name);
    return names;
  }

 private:
  JobDraft draft_of_class(const std::shared_ptr<const TrainingProfile>& profile) const;
  ElasticSpec spec_of(const TrainingProfile& profile) const;
  TaskSpec worker_of(const TrainingProfile& profile) const;

  const WorkloadConfig& config_;
  const TrainingSettings& settings_;
  TrainingProfiles profiles_;
  std::map<std::string, double> speeds_;    ///< by family; 1 on those that it does not name
  std::map<std::string, JobDraft> drafts_;  ///< so that jobs of a class share their epochs
};

std::optional<JobDraft> TrainingJobs::make(const std::string& name) {
  const auto known = drafts_.find(name);
  if (known != drafts_.end()) return known->second;
  const auto profile = profiles_.find(name);
  if (profile == profiles_.end()) return std::nullopt;
  return drafts_.emplace(name, draft_of_class(profile->second)).first->second;
}

JobDraft TrainingJobs::draft_of_class(const std::shared_ptr<const TrainingProfile>& profile) const {
  JobDraft draft;
  Job& job = draft.job.job;
  job.workload_class = profile->name;
  job.gang = true;
  ElasticSpec spec = spec_of(*profile);
  draft.tasks = spec.max_width;
  job.kind = std::move(spec);
  job.tasks.push_back(worker_of(*profile));
  JobTruth& truth = draft.job.truth;
  const auto mode = named<AgentMode>(settings_.agent);
  MUSTER_CHECK(mode.has_value(), "the config has one of the words");
  truth.elastic = std::make_shared<const TrainingTruth>(profile, *mode, settings_.cold_rescale);
  truth.interference = profile->name;
  // The work of one worker that chooses best, for whoever asks how long a job is.
  double alone_s = 0;
  for (std::uint32_t e = 0; e < profile->epochs(); ++e) alone_s += epoch_s(*profile, e);
  truth.iterations = profile->ends.back();
  truth.iterations_per_s = truth.iterations / alone_s;
  return draft;
}

ElasticSpec TrainingJobs::spec_of(const TrainingProfile& profile) const {
  ElasticSpec spec;
  spec.max_width = std::min(settings_.max_width, profile.max_width);
  spec.unit = kProgressUnit;
  spec.batch = profile.limits;
  std::vector<ElasticEpoch> epochs;
  if (settings_.states_speedups) {
    epochs = stated_epochs(profile, spec.max_width);
  } else {
    // A user who trains knows the epochs, if not their speeds.
    for (const double end : profile.ends) epochs.emplace_back().until = end;
  }
  spec.epochs = ElasticEpochs(std::move(epochs));
  return spec;
}

TaskSpec TrainingJobs::worker_of(const TrainingProfile& profile) const {
  TaskSpec worker;
  Resources demand = default_demand(config_.task);
  demand[Resource::gpu] = 1;
  std::vector<FamilyDemand> families{{"", demand, 1}};
  for (const auto& [family, speed] : speeds_) families.push_back({family, demand, speed});
  worker.demands = Demands(std::move(families));
  const Duration delay =
      settings_.rescale > Duration::zero() ? settings_.rescale : profile.rescale_delay;
  worker.delays.init = from_seconds(to_seconds(delay) * settings_.rescale_factor);
  return worker;
}

/// Draws when the jobs are submitted, in the order of the trace, with its number of jobs over its
/// time. The fault of the settings, or nothing.
std::optional<Failure<WorkloadError>> draw_submissions(RawJobs& raw_jobs,
                                                       const TrainingSettings& settings,
                                                       std::uint64_t seed) {
  std::vector<JobRow>& jobs = raw_jobs.jobs;
  std::ranges::stable_sort(jobs, {}, &JobRow::submit);
  const double span_s = jobs.empty() ? 0 : to_seconds(jobs.back().submit.time_since_epoch());
  if (!(span_s > 0)) return std::nullopt;  // all at once: there are no gaps
  const double gap_s = span_s / static_cast<double>(jobs.size());
  const double cycle = to_seconds(settings.burst_cycle) / gap_s;
  const auto rates = two_rates(settings.burstiness, cycle);
  if (!rates) {
    return Failure<WorkloadError>{
        WorkloadError::invalid,
        fmt::format("workload.training.burst_cycle has to be longer than {:.6g} s for a burstiness "
                    "of {:g} with {:.4g} jobs an hour",
                    gap_s * (settings.burstiness - 1) / 2, settings.burstiness, 3600 / gap_s)};
  }
  Rng rng(seed);
  const std::vector<double> times = draw_arrivals(*rates, jobs.size(), rng);
  // Scaled, so that seeds differ in when jobs come and not in how many come an hour. That leaves
  // the gaps' coefficient of variation as it is.
  const double scale_s = span_s / times.back();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].submit = Instant{from_seconds(times[i] * scale_s)};
  }
  raw_jobs.description +=
      fmt::format(", submitted in bursts of C^2 {:g} by seed {}", settings.burstiness, seed);
  return std::nullopt;
}

/// The job of a row.
std::optional<JobDraft> read_row(TraceReading& reading, CsvReader& row, TrainingJobs& jobs) {
  const std::string& name = row.needed_text("application");
  auto draft = jobs.make(name);
  if (!draft && !name.empty()) {
    row.complain("application", unknown_word("class with a profile", name, jobs.classes()));
  }
  if (!draft) return std::nullopt;
  draft->job.job.name = row.text("name");
  const Moment submit = row.moment("time");
  if (submit.calendar) reading.dated();
  draft->job.submit = Instant{submit.at};
  return draft;
}

TraceResult read_rows(TraceReading& reading, TrainingJobs& jobs) {
  const WorkloadConfig& config = reading.config();
  auto stream = CsvStream::open(config.path);
  if (!stream) return as_workload_error(stream.error());
  CsvReader reader(stream.value(), kTrainingColumns, reading.errors());
  for (std::uint64_t number = 1;;) {
    const auto row = stream->next();
    if (!row) return as_workload_error(row.error());
    if (row.value() == nullptr) break;
    reading.begin_row(row.value()->line);
    std::optional<JobDraft> draft;
    if (reader.select(*row.value())) draft = read_row(reading, reader, jobs);
    if (draft) draft->job.job.id = JobId{number++};
    reading.end_row(std::move(draft));
  }
  const auto& settings = config.own.of<TrainingSettings>();
  return reading.finish({.description = fmt::format("training jobs {}, calibration {}, agent {}",
                                                    config.path.filename().string(),
                                                    settings.calibration, settings.agent),
                         .from_first = false});
}

RawJobsResult read_training(const WorkloadConfig& config, std::uint64_t seed) {
  const auto& settings = config.own.of<TrainingSettings>();
  const auto calibration = named<TrainingCalibration>(settings.calibration);
  MUSTER_CHECK(calibration.has_value(), "the config has one of the words");
  auto profiles = load_training_profiles(settings.profiles, *calibration);
  if (!profiles) return as_workload_error(profiles.error());
  auto speeds = speeds_of(settings.families);
  if (!speeds) return speeds.error();
  TrainingJobs jobs(config, std::move(profiles).value(), std::move(speeds).value());
  auto raw_jobs =
      collect_jobs(config, [&](TraceReading& reading) { return read_rows(reading, jobs); });
  if (!raw_jobs) return raw_jobs.error();
  if (settings.burstiness > 0) {
    if (const auto fault = draw_submissions(raw_jobs.value(), settings, seed)) return *fault;
  }
  return raw_jobs;
}

std::vector<KeyFault> check_training(const ReplayConfig& config) {
  const double burstiness = config.workload.own.of<TrainingSettings>().burstiness;
  if (burstiness == 0 || burstiness >= 1) return {};
  return {{"workload.training.burstiness",
           fmt::format("has to be 0, which leaves submissions as they are, or 1 and more; it is "
                       "{:g}",
                       burstiness)}};
}

}  // namespace

WorkloadFormat training_format() {
  using config::format_key;
  WorkloadFormat format{
      {.name = "training", .needs = {"workload.path", "workload.training.profiles"}},
      read_training};
  format.part.check = check_training;
  format.part.keys = {
      {"workload.training.profiles",
       "training: folder with the profiles of the classes, throughput_grid.csv and calibration.csv",
       config::PathKeyOf<ReplayConfig>{format_key<&TrainingSettings::profiles>}},
      {"workload.training.calibration",
       "training: simulator whose rules slow jobs down, delay them and bound them",
       config::word_key<ReplayConfig>(choices_of<TrainingCalibration>(),
                                      format_key<&TrainingSettings::calibration>)},
      {"workload.training.agent",
       "training: whether jobs choose batches by the truth or by what they learn",
       config::word_key<ReplayConfig>(choices_of<AgentMode>(),
                                      format_key<&TrainingSettings::agent>)},
      {"workload.training.states_speedups",
       "training: jobs state how fast they go at which width in which epoch",
       config::FlagKeyOf<ReplayConfig>{format_key<&TrainingSettings::states_speedups>}},
      {"workload.training.max_width", "training: workers of a job at most",
       config::WholeKeyOf<ReplayConfig>{format_key<&TrainingSettings::max_width>, 1,
                                        kMostReplicas}},
      {"workload.training.rescale",
       "training: until a job goes on that starts on other workers; 0: as the calibration has it",
       config::TimeKeyOf<ReplayConfig>{format_key<&TrainingSettings::rescale>, Duration{},
                                       kLongestTrainingDelay}},
      {"workload.training.rescale_factor", "training: factor on that delay",
       config::NumberKeyOf<ReplayConfig>{format_key<&TrainingSettings::rescale_factor>,
                                         {.low = 0, .high = 100}}},
      {"workload.training.cold_rescale",
       "training: that delay on workers of another family than before, where it is longer",
       config::TimeKeyOf<ReplayConfig>{format_key<&TrainingSettings::cold_rescale>, Duration{},
                                       kLongestTrainingDelay}},
      {"workload.training.burstiness",
       "training: squared coefficient of variation of the gaps between submissions, drawn by the "
       "seed with the trace's rate; 1: a Poisson process; 0: as in the trace",
       config::NumberKeyOf<ReplayConfig>{format_key<&TrainingSettings::burstiness>,
                                         {.low = 0, .high = 1000}}},
      {"workload.training.burst_cycle",
       "training: from one burst of submissions to the next, on average",
       config::TimeKeyOf<ReplayConfig>{format_key<&TrainingSettings::burst_cycle>,
                                       std::chrono::seconds{1}, kLongest}},
      {"workload.training.families",
       "training: families with the factor by which workers are faster there than measured, "
       "FAMILY@SPEED",
       config::ListKeyOf<ReplayConfig>{format_key<&TrainingSettings::families>}}};
  return format;
}

}  // namespace muster::replay
