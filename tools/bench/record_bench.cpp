// Processor time that records cost a master: the events of a thousand jobs of eight tasks, from
// their acceptance to their end, written and read in batches as the journal has them, and the
// journal's whole way to the disk.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "storage/record_codec.hpp"
#include "storage/store.hpp"

namespace muster {
namespace {

constexpr std::size_t kJobs = 1000;
constexpr std::uint64_t kTasks = 8;

Catalog one_type() {
  InstanceType type;
  type.name = type.family = "c7i.large";
  type.capacity = Resources::of(0, 2, 4);
  return Catalog({type});
}

Job job_of(std::uint64_t number) {
  Job job;
  job.id = JobId{number};
  job.name = job.workload_class = "align-reads";
  job.user = "ann";
  job.token = "a9f1c2d3e4b5";
  job.program.argv = {"/opt/align/bin/align", "--reads", "/data/reads.fq", "--threads", "2"};
  job.program.env = {{"REFERENCE", "/data/hg38.fa"}};
  job.runtime_hint = std::chrono::minutes{20};
  for (std::uint64_t i = 0; i < kTasks; ++i) {
    TaskSpec task;
    task.id = TaskId{number * 100 + i};
    task.demands = Demands(Resources::of(0, 1, 1.5));
    task.array_index = static_cast<std::uint32_t>(i);
    job.tasks.push_back(std::move(task));
  }
  return job;
}

/// One batch for each step of a job, as a master commits them.
std::vector<std::vector<Event>> batches() {
  std::vector<std::vector<Event>> all;
  const Grant grant{Resources::of(0, 1, 1.5), 1};
  for (std::uint64_t number = 1; number <= kJobs; ++number) {
    const Job job = job_of(number);
    const Instant at{std::chrono::seconds{number}};
    all.push_back({{at, JobAccepted{job}}});
    std::vector<Event> round{{at, RoundDecided{number, {"full", {{"saved_usd_h", 1.25}}}}},
                             {at, LaunchRequested{InstanceId{number}, TypeId{0}, {}, {}, {}}}};
    std::vector<Event> starts, begins, ends;
    for (const TaskSpec& task : job.tasks) {
      const Cause cause{CauseCode::packed, 0.125};
      round.push_back({at, TaskAssigned{task.id, InstanceId{number}, cause, grant}});
      starts.push_back({at, StartIssued{task.id, InstanceId{number}, 1, grant}});
      begins.push_back({at, TaskStarted{task.id, 1, {}, {}}});
      ends.push_back({at, TaskFinished{task.id, 1, {0, "done\n", ""}}});
    }
    ends.push_back({at, JobFinished{job.id}});
    for (auto* each : {&round, &starts, &begins, &ends}) all.push_back(std::move(*each));
  }
  return all;
}

std::size_t events_in(const std::vector<std::vector<Event>>& batches) {
  std::size_t count = 0;
  for (const auto& batch : batches) count += batch.size();
  return count;
}

void per_event(benchmark::State& state, std::size_t events, std::size_t bytes) {
  const auto all = static_cast<double>(events);
  state.counters["ns_an_event"] = benchmark::Counter(
      all * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["bytes_an_event"] = static_cast<double>(bytes) / all;
}

void write_events(benchmark::State& state) {
  const Catalog catalog = one_type();
  const auto all = batches();
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (const auto& batch : all) bytes += encode_events(batch, catalog).size();
  }
  per_event(state, events_in(all), bytes);
}

void read_events(benchmark::State& state) {
  const Catalog catalog = one_type();
  const auto all = batches();
  std::vector<std::string> records;
  std::size_t bytes = 0;
  for (const auto& batch : all) {
    records.push_back(encode_events(batch, catalog));
    bytes += records.back().size();
  }
  for (auto _ : state) {
    for (const std::string& record : records) {
      MUSTER_CHECK(decode_events(record, catalog), "what was written can be read");
    }
  }
  per_event(state, events_in(all), bytes);
}

/// Each batch is written to a store's log and waited for until the disk has it, as `machine`
/// durability wants.
void journal_events(benchmark::State& state) {
  const Catalog catalog = one_type();
  const auto all = batches();
  const std::filesystem::path folder = "record_bench.tmp";
  std::size_t bytes = 0;
  for (auto _ : state) {
    std::filesystem::remove_all(folder);
    StoreOptions options;
    options.meta = {"bench", "bench", catalog};
    auto store = Store::open(folder, options);
    MUSTER_CHECK(store, "the bench has a folder to write to");
    bytes = 0;
    std::uint64_t number = 0;
    for (const auto& batch : all) {
      std::string record = encode_events(batch, catalog);
      bytes += record.size();
      StoreBatch put;
      put.put(Family::journal, key_of(++number), std::move(record));
      MUSTER_CHECK(!store.value()->write(put, Durability::machine), "the disk takes records");
    }
  }
  std::filesystem::remove_all(folder);
  per_event(state, events_in(all), bytes);
}

BENCHMARK(write_events)->Unit(benchmark::kMillisecond);
BENCHMARK(read_events)->Unit(benchmark::kMillisecond);
BENCHMARK(journal_events)->Iterations(1)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
