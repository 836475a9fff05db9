// Answers of a master about jobs that are over, from a history on the disk of 10,000 jobs with ten
// attempts each, and about one job of 10,000 tasks: `row_us` is the time of the reader's processor
// for each job, or task with its attempts, that is shown. The folder is made below the working
// directory.

#include <benchmark/benchmark.h>

#include <ctime>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "masters/view/cell_view.hpp"
#include "model/check.hpp"
#include "storage/stores/store_history.hpp"
#include "tools/bench/bench_master.hpp"
#include "tools/bench/scratch_store.hpp"

namespace muster::bench {
namespace {

constexpr std::uint64_t kJobs = 10'000;
constexpr std::uint64_t kWideJob = kJobs + 1;
constexpr std::uint32_t kTasks = 10'000;

TaskHistory task_of(std::uint32_t attempts) {
  TaskHistory task;
  for (std::uint32_t number = 1; number <= attempts; ++number) {
    AttemptHistory attempt;
    attempt.number = number;
    attempt.instance = InstanceId{number};
    attempt.type = TypeId{0};
    attempt.market = Market::spot;
    attempt.sent_at = Instant{std::chrono::seconds{number}};
    begin_attempt(task, std::move(attempt), {}, 20);
    end_attempt(task, {number == attempts ? AttemptEnd::finished : AttemptEnd::moved, {}, 0, {}},
                Instant{std::chrono::seconds{number + 1}});
  }
  task.attempts = attempts;
  task.finished = true;
  return task;
}

JobHistory over(std::uint64_t id, std::uint32_t tasks, std::uint32_t attempts) {
  JobHistory made;
  made.job = job_of(id, id * kTasks, tasks, false);
  made.job.user = "user-" + std::to_string(id % 10);
  made.job.name = id % 1'000 == 0 ? "rare" : "sweep-" + std::to_string(id);
  made.job.submitted = Instant{std::chrono::seconds{id}};
  for (std::uint32_t i = 0; i < tasks; ++i) made.job.tasks[i].array_index = i;
  made.tasks.assign(tasks, task_of(attempts));
  return made;
}

/// A master of which these jobs are over.
class Filled {
 public:
  Filled() {
    auto history_opened = StoreHistory::open(*store, journal, catalog);
    MUSTER_CHECK(history_opened, "a new history opens");
    history = std::move(history_opened).value();
    for (std::uint64_t id = 1; id <= kJobs; ++id) history->add(over(id, 1, 10));
    history->add(over(kWideJob, kTasks, 10));
    std::promise<void> written;
    journal.change([](StoreBatch&) {}, [&] { written.set_value(); });
    written.get_future().wait();
  }

  CellView view() const { return {master, history.get(), {}, "m0", Instant{}}; }

  Catalog catalog = eights();
  Master master = master_with(catalog, {});
  ScratchStore store{"history_bench", catalog};
  StoreJournal journal{*store, catalog, RecoveredMaster{}};
  std::unique_ptr<StoreHistory> history;
};

const Filled& filled() {
  static const Filled kKept;
  return kKept;
}

double processor_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// `ask` gives the number of rows that it was shown.
template <class Ask>
void answer(benchmark::State& state, Ask ask) {
  const CellView view = filled().view();
  std::size_t rows = 0;
  const double begin = processor_us();
  for (auto _ : state) rows += ask(view);
  state.counters["rows"] = static_cast<double>(rows) / static_cast<double>(state.iterations());
  state.counters["row_us"] = (processor_us() - begin) / static_cast<double>(rows);
}

std::size_t jobs_shown(const CellView& view, JobFilter filter, std::uint32_t most) {
  JobsQuestion wanted;
  wanted.active = false;
  wanted.filter = std::move(filter);
  wanted.most = most;
  const auto said = view.jobs(wanted);
  return (said.read ? said.read() : said.view).jobs.size();
}

std::size_t attempts_shown(const CellView& view, JobId job, std::uint32_t most) {
  JobQuestion wanted;
  wanted.job = job;
  wanted.attempts = true;
  wanted.most = most;
  const auto said = view.job(wanted);
  std::size_t shown = 0;
  const JobDetails details = said.read ? said.read() : said.view;
  for (const TaskView& task : details.tasks) shown += task.attempts ? task.attempts->size() : 0;
  return shown;
}

BENCHMARK_CAPTURE(answer, history_page, [](const CellView& view) {
  return jobs_shown(view, {}, 100);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(answer, history_thousand, [](const CellView& view) {
  return jobs_shown(view, {}, 1'000);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(answer, history_of_a_rare_name, [](const CellView& view) {
  return jobs_shown(view, {.name = "rar?"}, 100);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(answer, attempts_of_a_job, [](const CellView& view) {
  return attempts_shown(view, JobId{77}, 100);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(answer, attempts_of_a_wide_job, [](const CellView& view) {
  return attempts_shown(view, JobId{kWideJob}, 1'000);
})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::bench

BENCHMARK_MAIN();
