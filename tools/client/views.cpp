// Writes the API's answers as tables and lines for a terminal. A figure that lacks the part of one
// who does not answer says "at least".

#include "tools/client/views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "config/numbers.hpp"
#include "model/rounded_text.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/shell_words.hpp"
#include "tools/client/story_views.hpp"
#include "tools/client/task_groups.hpp"
#include "tools/client/usage_views.hpp"

namespace muster::client {
namespace {

/// Characters of a column whose text is cut; reasons are sentences.
constexpr std::size_t kWideColumn = 100;

std::string amount(double number) {
  // To hundredths: sums of demands such as 0.1 + 0.2 have rounding errors that are of no interest.
  return number_text(std::round(number * 100) / 100);
}

std::string used_of(double used, double capacity) {
  return fmt::format("{}/{}", amount(used), amount(capacity));
}

std::string seat(const TaskView& task) {
  if (!task.instance.valid()) return "-";
  const std::uint64_t number = task.instance.value;
  if (task.instance_type.empty()) return fmt::format("instance {}", number);
  return fmt::format("instance {} ({})", number, task.instance_type);
}

/// "reports loss 0.25, p99_ms 12.5"; empty: it reports nothing.
std::string reports_of(const TaskView& task) {
  std::string text;
  for (const FigureView& one : task.metrics) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "reports " : ", ", one.name, number_text(one.value));
  }
  return text;
}

/// Why it does not run, or how it has failed; of one that does, what it reports.
std::string reason_of(const TaskView& task) {
  if (task.reason && !task.reason->text.empty()) return task.reason->text;
  if (task.phase != ShownPhase::failed) return reports_of(task);
  // A failed task waits for nothing; its last failure is the reason worth showing.
  return task.last_failure ? task.last_failure->text : "";
}

std::string cap_text(double cap, const std::string& text) {
  return cap > 0 ? text : "no limit";
}

/// "1 cpu", "2.5 cpus"
std::string plural_of(double number, std::string_view what) {
  return fmt::format("{} {}{}", amount(number), what, number == 1 ? "" : "s");
}

/// "10min", "90s"; of what is too long for that the seconds.
std::string length_text(double seconds) {
  constexpr double kLongest = 9e9;
  if (!(seconds >= 0 && seconds <= kLongest)) return number_text(seconds) + " s";
  return duration_text(from_seconds(seconds));
}

/// Tasks that have to end for the job to do so: of an elastic one, as many as it is wide.
std::uint64_t tasks_of(const JobView& job) {
  if (!job.elastic) return job.tasks;
  return job.elastic->width > 0 ? job.elastic->width : job.finished;
}

/// Tasks that wait; workers that an elastic job is not to have do not.
std::uint64_t waiting(const JobView& job) {
  return job.waiting + job.held + (job.elastic ? 0 : job.capped);
}

/// "2 of 1-8": its width, and between which bounds; of other jobs how many tasks there are.
std::string size_text(const JobView& job) {
  if (!job.elastic) return std::to_string(job.tasks);
  const ElasticView& elastic = *job.elastic;
  const std::string range = fmt::format("{}-{}", elastic.least, elastic.most);
  return elastic.width > 0 ? fmt::format("{} of {}", elastic.width, range) : range;
}

/// "elastic: 2 workers of 1 to 8; 120 of 1000 samples done"
std::string elastic_text(const ElasticView& elastic) {
  std::string text = "elastic: ";
  if (elastic.width > 0) text += count_text(elastic.width, "worker") + " of ";
  text += fmt::format("{} to {}", elastic.least, elastic.most);
  // Nothing is known of the progress of a job that is over.
  if (elastic.width == 0) return text;
  text += "; " + number_text(elastic.done);
  if (elastic.whole > 0) text += " of " + number_text(elastic.whole);
  return text + (elastic.unit.empty() ? "" : " " + elastic.unit) + " done";
}

/// "  each task: 2 cpus, 4 GiB of memory; time limit 10min" and what else there is to say, a line
/// for each kind.
std::string submission_text(const SubmittedAs& said) {
  std::vector<std::string> parts{plural_of(said.cpus, "cpu"), amount(said.memory_gib) + " GiB"};
  if (said.gpus > 0) parts.push_back(plural_of(said.gpus, "gpu"));
  if (said.market != MarketChoice::any) parts.emplace_back(shown_word(said.market));
  const auto time = [&](const char* what, const std::optional<double>& seconds) {
    if (seconds) parts.push_back(fmt::format("{} {}", what, length_text(*seconds)));
  };
  time("time limit", said.time_limit_s);
  time("expected run time", said.runtime_hint_s);
  time("stop grace", said.stop_grace_s);
  std::string text = fmt::format("  each task: {}\n", fmt::join(parts, ", "));
  parts = {fmt::format("priority {}", said.priority)};
  // The indices from 0 on are those that a number of tasks has.
  const std::string usual = said.tasks == 1 ? "0" : fmt::format("0-{}", said.tasks - 1);
  const bool has_array = !said.array.empty() && said.array != usual;
  parts.push_back(count_text(said.tasks, "task") +
                  (has_array ? fmt::format(" (array {})", said.array) : ""));
  if (said.gang) parts.emplace_back("all together or not at all (gang)");
  if (said.max_running > 0) parts.push_back(fmt::format("at most {} at once", said.max_running));
  if (said.retries) parts.push_back(fmt::format("retries {}", *said.retries));
  if (said.max_fails) parts.push_back(fmt::format("max fails {}", *said.max_fails));
  for (const auto& [key, value] : said.others) {
    if (key == kResubmittedFrom) {
      parts.push_back("resubmitted from job " + value);
      continue;
    }
    if (key == kRunOf) {
      parts.push_back("run of job " + value);
      continue;
    }
    // An elastic job is shown with its widths anyhow.
    if (key != "elastic") parts.push_back(key + " " + value);
  }
  text += fmt::format("  {}\n", fmt::join(parts, ", "));
  if (!said.work_dir.empty()) text += fmt::format("  work folder {}\n", said.work_dir);
  if (!said.env_names.empty()) {
    constexpr std::size_t kNamesChars = 1'000;
    const std::string names = fmt::format("{}", fmt::join(said.env_names, ", "));
    text += fmt::format("  variables {}\n", cut(names, kNamesChars));
  }
  return text;
}

/// The words of `muster explain` for a task, behind its index.
std::string why_text(const TaskView& task, bool whole) {
  std::string text = fmt::format(": {}", shown_word(task.phase));
  if (task.instance.valid()) text += " on " + seat(task);
  const std::string why = task.why.empty() && task.reason ? task.reason->text : task.why;
  if (!why.empty()) text += ": " + in_local_time(why);
  if (const std::string reports = reports_of(task); !reports.empty()) text += "; " + reports;
  std::string attempts = attempt_lines(task, whole);
  if (attempts.empty()) return text;
  attempts.pop_back();  // the line's own end
  return text + "\n" + attempts;
}

std::string caps_text(const StatusView& status) {
  std::string text;
  for (const CapsOf& one : status.caps) {
    const CapsView& cap = one.caps;
    text += fmt::format("caps of {}: {}, {}, {}\n", one.master,
                        cap_text(cap.max_instances, amount(cap.max_instances)) + " instances",
                        cap_text(cap.max_usd_h, usd_text(cap.max_usd_h)) + " an hour",
                        cap_text(cap.max_usd_day, usd_text(cap.max_usd_day)) + " a day");
  }
  return text;
}

}  // namespace

std::string_view least(bool complete) {
  return complete ? "" : "at least ";
}

std::string job_head(const JobPage& page) {
  const JobView& job = page.job;
  std::string text = fmt::format("job {}  {}  of {}: {}", job.job.value, job.name, job.user,
                                 shown_word(job.state));
  if (is_over(job) && job.exit_code.value_or(0) != 0) {
    text += fmt::format(", exit code {}", *job.exit_code);
  }
  text += fmt::format(
      "\n  {} finished of {}, {} failed, {} running, {} starting, {} waiting, {} held, {} "
      "capped; {}\n",
      job.finished, tasks_of(job), job.failed, job.running, job.starting, job.waiting, job.held,
      job.elastic ? 0 : job.capped, count_text(job.failed_attempts, "failed attempt"));
  if (job.elastic) text += fmt::format("  {}\n", elastic_text(*job.elastic));
  if (job.reason && !job.reason->empty()) text += fmt::format("  {}\n", *job.reason);
  text += fmt::format("  submitted {}", time_or_dash(job.submitted));
  if (job.over) text += fmt::format(", over {}", time_text(*job.over));
  if (!job.master.empty()) text += fmt::format("; with {}", job.master);
  text += fmt::format("; {}{}\n", least(page.complete), usd_text(job.usd));
  const double asked_gib = page.submission ? page.submission->memory_gib : 0;
  if (job.cpu_s || job.peak_mib) text += fmt::format("  {}\n", used_text(job, asked_gib));
  if (page.submission) text += submission_text(*page.submission);
  if (!job.movable) text += "  its tasks are not moved while they run\n";
  if (job.distinct_instances) text += "  each of its tasks has an instance without the others\n";
  if (job.most_an_instance > 1) {
    text += fmt::format("  at most {} of its tasks share an instance\n", job.most_an_instance);
  }
  if (job.checkpoints) text += "  a task that is stopped goes on later where it was\n";
  // So that it can be pasted it is cut only at lengths beyond any paste; --json has all of it.
  constexpr std::size_t kCommandChars = 4'000;
  return text + fmt::format("  {}\n", cut(shell_line(job.command), kCommandChars));
}

std::string ran_text(const std::optional<double>& seconds) {
  // Well inside 64 bits: to convert a number beyond them is undefined.
  constexpr double kMost = 1e15;
  if (!seconds || !(*seconds >= 0 && *seconds < kMost)) return "-";
  const auto whole = static_cast<std::uint64_t>(*seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string usd_text(double usd) {
  // Rounded to four decimals it would read as free.
  if (usd != 0 && std::abs(usd) < 0.00005) return "<$0.0001";
  constexpr double kLarge = 10;
  return fmt::format("${:.{}f}", usd, std::abs(usd) < kLarge ? 4 : 2);
}

namespace {

std::vector<TextTable::Column> job_columns(bool of_past) {
  std::vector<TextTable::Column> all{{"JOB", true}, {"NAME"}, {"USER"}, {"STATE"}, {"TASKS", true}};
  if (!of_past) all.insert(all.end(), {{"WAIT", true}, {"RUN", true}});
  all.insert(all.end(), {{"DONE", true}, {"FAILED", true}, {"EXIT", true}, {"COST", true}});
  if (of_past) all.push_back({"TOOK", true});
  all.push_back({"SUBMITTED"});
  if (of_past) all.push_back({"ENDED"});
  return all;
}

std::string took_text(const JobView& job) {
  if (!job.submitted || !job.over) return "-";
  // The site's clock, which says when it was submitted, may be ahead of the master's.
  return ran_text(std::max(0.0, to_seconds(*job.over - *job.submitted)));
}

}  // namespace

JobTable::JobTable(bool of_past) : of_past_(of_past), table_(job_columns(of_past)) {}

std::string JobTable::next(const std::vector<JobView>& jobs) {
  for (const JobView& job : jobs) {
    std::vector<std::string> row{std::to_string(job.job.value), job.name, job.user,
                                 std::string(shown_word(job.state)), size_text(job)};
    const auto add = [&row](std::string cell) { row.push_back(std::move(cell)); };
    if (!of_past_) add(std::to_string(waiting(job)));
    if (!of_past_) add(std::to_string(job.starting + job.running));
    add(std::to_string(job.finished));
    add(std::to_string(job.failed));
    add(is_over(job) ? number_or_dash(job.exit_code) : "-");
    add(usd_text(job.usd));
    if (of_past_) add(took_text(job));
    add(time_or_dash(job.submitted));
    if (of_past_) add(time_or_dash(job.over));
    table_.add_row(std::move(row));
  }
  return table_.take();
}

namespace {

TextTable task_table(bool measured) {
  std::vector<TextTable::Column> columns{{"TASK", true}, {"PHASE"},      {"ATTEMPT", true},
                                         {"WHERE"},      {"EXIT", true}, {"RAN", true}};
  if (measured) columns.insert(columns.end(), {{"CPU TIME", true}, {"PEAK MIB", true}});
  columns.insert(columns.end(), {{"MOVES", true}, {"COST", true}, {"REASON", false, kWideColumn}});
  return TextTable(std::move(columns));
}

}  // namespace

std::string TaskTable::next(const JobPage& page) {
  // The head stands above the first page alone, which says which columns there are.
  const std::string head = table_ ? "" : job_head(page);
  if (!table_) {
    measured_ = page.job.cpu_s || page.job.peak_mib;
    table_ = task_table(measured_);
  }
  for (const TaskView& task : page.tasks) {
    std::vector<std::string> row{
        std::to_string(task.index),     std::string(shown_word(task.phase)),
        std::to_string(task.attempt),   seat(task),
        number_or_dash(task.exit_code), ran_text(task.wall_s ? task.wall_s : task.ran_s)};
    if (measured_) row.insert(row.end(), {cpu_text(task.cpu_s), mib_text(task.peak_mib)});
    // Before its first attempt a task cannot have moved: "-" and not 0.
    row.push_back(task.attempt > 0 ? std::to_string(task.moves) : "-");
    row.push_back(usd_text(task.usd));
    row.push_back(reason_of(task));
    table_->add_row(std::move(row));
  }
  return head + table_->take();
}

std::string WhyLines::next(const JobPage& page) {
  std::string text;
  if (!std::exchange(begun_, true)) {
    const JobView& job = page.job;
    text = fmt::format("job {}  {}: {}\n", job.job.value, job.name, shown_word(job.state));
    if (job.elastic) text += elastic_text(*job.elastic) + "\n";
    // Of a job that waits at its site, or ended there, no task is known that could say why.
    if (page.tasks.empty() && job.reason && !job.reason->empty()) text += "  " + *job.reason + "\n";
    if (is_over(job) && tasks_of(job) > 1) {
      text += fmt::format("`muster job {} --attempts` shows where each task ran\n", job.job.value);
    }
  }
  // Of an array that is over it would be a line a task.
  const bool whole = is_over(page.job) && tasks_of(page.job) == 1;
  TaskGroups groups;
  for (const TaskView& task : page.tasks) groups.add(task.index, why_text(task, whole));
  constexpr int kMostRanges = 20;
  return text + groups.text([](const std::string& why, bool) { return why; }, kMostRanges);
}

std::string view(const InstancesView& shown) {
  // A column for labels only where some type has any: most catalogs have no labels.
  const bool labelled = std::any_of(shown.instances.begin(), shown.instances.end(),
                                    [](const auto& one) { return !one.labels.empty(); });
  std::vector<TextTable::Column> columns{{"INSTANCE", true}, {"TYPE"},      {"MARKET"},
                                         {"PHASE"},          {"MASTER"},    {"$/H", true},
                                         {"CPUS", true},     {"GIB", true}, {"GPUS", true}};
  if (labelled) columns.push_back({"LABELS"});
  columns.push_back({"TASKS (JOB.TASK)"});
  TextTable table(std::move(columns));
  for (const InstanceView& instance : shown.instances) {
    std::vector<std::string> tasks;
    for (const OccupantView& task : instance.tasks) {
      tasks.push_back(fmt::format("{}.{}", task.job.value, task.index));
    }
    if (instance.more_tasks > 0) tasks.push_back(fmt::format("and {} more", instance.more_tasks));
    std::string phase(shown_word(instance.phase));
    if (instance.released) phase += ", released";
    if (instance.phase == InstancePhase::ready && !instance.connected) phase += ", lost";
    const auto used = [&](Resource kind) {
      return used_of(instance.used[kind], instance.capacity[kind]);
    };
    std::vector<std::string> cells{std::to_string(instance.instance.value),
                                   instance.type,
                                   std::string(shown_word(instance.market)),
                                   phase,
                                   instance.master,
                                   fmt::format("{:.4f}", instance.usd_h),
                                   used(Resource::cpu),
                                   used(Resource::memory),
                                   used(Resource::gpu)};
    if (labelled) cells.push_back(label_text(instance.labels));
    cells.push_back(fmt::format("{}", fmt::join(tasks, " ")));
    table.add_row(std::move(cells));
  }
  return table.text();
}

std::string view(const NodesView& shown) {
  TextTable table({{"NODE"},
                   {"CONNECTED"},
                   {"ROLES"},
                   {"POLICY"},
                   {"JOBS", true},
                   {"WAITING TASKS", true},
                   {"INSTANCES", true}});
  const auto count = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : "-";  // of no master, or one that does not answer
  };
  for (const NodeView& node : shown.nodes) {
    const NodeLoad& load = node.load;
    table.add_row({node.node, node.connected ? "yes" : "NO",
                   fmt::format("{}", fmt::join(node.roles, ", ")),
                   load.policy.empty() ? "-" : load.policy, count(load.jobs),
                   count(load.pending_tasks), count(load.instances)});
  }
  return table.text();
}

std::string silence_text(const SilentView& silent) {
  std::string text = !silent.cloud.empty()  ? "the cloud of node " + silent.cloud
                     : !silent.site.empty() ? "site " + silent.site
                                            : "master " + silent.master;
  text += " does not answer";
  if (silent.since) text += fmt::format(" since {:.0f} s", to_seconds(*silent.since));
  if (!silent.last) return text;
  const LastFigures& last = *silent.last;
  return text + fmt::format("; it last said {} an hour, {} today, {} in all, {}, {} waiting",
                            usd_text(last.usd_h), usd_text(last.today_usd),
                            usd_text(last.total_usd), count_text(last.instances, "instance"),
                            count_text(last.pending_tasks, "task"));
}

std::string view(const StatusAnswer& status) {
  const std::string_view some = least(status.silent.empty());
  std::string text =
      fmt::format("jobs:      {}{} running, {} waiting, {} held, {} over\n", some,
                  status.jobs.running, status.jobs.waiting, status.jobs.held, status.jobs.over);
  text += fmt::format("tasks:     {}{} running, {} pending\n", some, status.tasks.running,
                      status.tasks.pending);
  if (status.elastic.jobs > 0) {
    // The sum of their widths, whether the workers run or wait.
    text += fmt::format("elastic:   {}{}, to have {} together\n", some,
                        count_text(status.elastic.jobs, "job"),
                        count_text(status.elastic.workers, "worker"));
  }
  std::vector<std::string> kinds;
  for (const OfferCount& kind : status.instances) {
    kinds.push_back(fmt::format("{} {} ({})", kind.count, kind.type, shown_word(kind.market)));
  }
  const std::string none = status.silent.empty() ? "none" : "none known of";
  text += fmt::format("instances: {}{}\n", kinds.empty() ? "" : some,
                      kinds.empty() ? none : fmt::format("{}", fmt::join(kinds, ", ")));
  text +=
      fmt::format("cost:      {}{} an hour now, {} today, {} in all\n", some,
                  usd_text(status.usd_h), usd_text(status.today_usd), usd_text(status.total_usd));
  for (const SilentView& one : status.silent) {
    text += fmt::format("silent:    {}\n", silence_text(one));
  }
  const auto lost = std::count_if(status.nodes.begin(), status.nodes.end(),
                                  [](const NodeView& node) { return !node.connected; });
  text += fmt::format("nodes:     {}{}\n", status.nodes.size(),
                      lost > 0 ? fmt::format(", {} not connected", lost) : "");
  text += caps_text(status);
  for (const std::string& trouble : status.trouble) text += "trouble: " + trouble + "\n";
  return text;
}

std::string progress_line(const std::vector<JobView>& jobs) {
  JobView sum;
  std::uint64_t over = 0;
  for (const JobView& job : jobs) {
    sum.waiting += waiting(job);
    sum.running += job.starting + job.running;
    sum.finished += job.finished;
    sum.tasks += tasks_of(job);
    over += is_over(job) ? 1 : 0;
  }
  std::string text = fmt::format("{} waiting, {} running, {} of {} finished", sum.waiting,
                                 sum.running, sum.finished, sum.tasks);
  if (jobs.size() > 1) text += fmt::format("; {} of {} jobs over", over, jobs.size());
  return text;
}

}  // namespace muster::client
