// Costs of the stores of cloud and masters for their actors, each beside its plain form (one wait
// for the disk a record; a read of every job that is over). The folder is made below the working
// directory, which should be on a disk and not in memory: the wait for it is measured.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "storage/stores/backup_folder.hpp"
#include "storage/stores/rocks_cloud_store.hpp"
#include "storage/stores/store_history.hpp"
#include "tools/bench/scratch_store.hpp"

namespace muster {
namespace {

using bench::ScratchStore;

RentedRecord rented(std::uint64_t instance, bool refused) {
  RentedRecord record;
  record.instance = InstanceId{instance};
  record.type = "c7i.large";
  record.refused = refused;
  return record;
}

/// The cloud store's plain form: each record has a wait for the disk, and what is over is searched
/// for.
class PlainCloudStore {
 public:
  explicit PlainCloudStore(Store& store) : store_(store) {}

  void put(const RentedRecord& record) {
    StoreBatch batch;
    batch.put(Family::instance, key_of(record.instance.value), encode_rented(record));
    const bool over = record.refused || record.gone_at.has_value();
    // The search is the plain form's cost that is measured: O(records that are over) for each one.
    if (over && std::find(gone_.begin(), gone_.end(), record.instance) == gone_.end()) {
      gone_.push_back(record.instance);
    }
    MUSTER_CHECK(!store_.write(batch, Durability::machine), "the disk takes records");
  }

 private:
  Store& store_;
  std::deque<InstanceId> gone_;
};

void records_one_by_one(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const bool refused = state.range(1) != 0;
  for (auto _ : state) {
    // A new store for each iteration, or later ones would pay for compactions of the earlier.
    const ScratchStore scratch("store_bench", Catalog{});
    PlainCloudStore records(*scratch);
    for (std::uint64_t i = 0; i < count; ++i) records.put(rented(i, refused));
  }
}

/// The time until the last record is durable; `on_actor_ms` is what its actor spends of it.
void records_in_groups(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const bool refused = state.range(1) != 0;
  double on_actor_s = 0;
  for (auto _ : state) {
    const ScratchStore scratch("store_bench", Catalog{});
    const auto records = RocksCloudStore::open(*scratch);
    MUSTER_CHECK(records, "a new book opens");
    std::promise<void> last;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
      records.value()->put(rented(i, refused), [&, i](const std::string& trouble) {
        MUSTER_CHECK(trouble.empty(), "the disk takes records");
        if (i + 1 == count) last.set_value();
      });
    }
    // The actor goes on here: the rest is the writer's wait for the disk.
    on_actor_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    last.get_future().wait();
  }
  state.counters["on_actor_ms"] = on_actor_s * 1e3;
}

BENCHMARK(records_one_by_one)
    ->Args({10'000, 0})
    ->Args({10'000, 1})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(records_in_groups)
    ->Args({10'000, 0})
    ->Args({10'000, 1})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A history of as many jobs, of ten users and with ten tasks each.
struct FilledHistory {
  explicit FilledHistory(std::uint64_t jobs) : journal(*scratch, catalog, {}) {
    auto opened = StoreHistory::open(*scratch, journal, catalog);
    MUSTER_CHECK(opened, "a new history opens");
    history = std::move(opened).value();
    for (std::uint64_t id = 1; id <= jobs; ++id) {
      JobHistory job;
      job.job.id = JobId{id};
      job.job.user = "user-" + std::to_string(id % 10);
      job.job.tasks.resize(10);
      job.tasks.resize(10);
      job.tasks[0].cost = Money::of(Price::from_usd_h(1), std::chrono::seconds{id});
      history->add(std::move(job));
    }
    std::promise<void> written;
    // Changes are written in order: when this one is durable, so are all the jobs.
    journal.change([](StoreBatch&) {}, [&] { written.set_value(); });
    written.get_future().wait();
  }

  Catalog catalog;
  ScratchStore scratch{"store_bench", catalog};
  StoreJournal journal;
  std::unique_ptr<StoreHistory> history;
};

// Reads and adds up every job that is over, which the kept sums make needless.
void cost_by_user_read(benchmark::State& state) {
  const FilledHistory filled(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) {
    std::map<std::string, Money> parts;
    filled.history->newest(10'000, [&](const JobHistory& job) {
      for (const TaskHistory& task : job.tasks) parts[job.job.user] += task.cost;
      return true;
    });
    benchmark::DoNotOptimize(parts);
  }
}

void cost_by_user_kept(benchmark::State& state) {
  const FilledHistory filled(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(filled.history->spent_by_user());
}

/// A page of 100 jobs of one user: the plain form looks through the newest jobs for them.
void page_of_user_searched(benchmark::State& state) {
  const FilledHistory filled(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) {
    std::size_t found = 0;
    filled.history->newest(
        10'000, [&](const JobHistory& job) { return (found += job.job.user == "user-3") < 100; });
    benchmark::DoNotOptimize(found);
  }
}

/// `on_actor_us` is the time until the reading is under way apart.
void page_of_user_apart(benchmark::State& state) {
  const FilledHistory filled(static_cast<std::uint64_t>(state.range(0)));
  double on_actor_s = 0;
  for (auto _ : state) {
    std::promise<std::size_t> read;
    const auto begin = std::chrono::steady_clock::now();
    filled.history->read_apart([&] {
      std::size_t found = 0;
      filled.history->list({{.user = "user-3"}, {}, 100},
                           [&](const JobHistory&) { return ++found > 0; });
      read.set_value(found);
    });
    on_actor_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    benchmark::DoNotOptimize(read.get_future().get());
  }
  state.counters["on_actor_us"] =
      benchmark::Counter(on_actor_s * 1e6, benchmark::Counter::kAvgIterations);
}

/// A page of 100 of that number of jobs that are over, at the beginning and in the middle.
void page_of_over_jobs(benchmark::State& state) {
  const FilledHistory filled(static_cast<std::uint64_t>(state.range(0)));
  const JobPlace below{Instant{}, JobId{static_cast<std::uint64_t>(state.range(1))}};
  for (auto _ : state) {
    std::size_t found = 0;
    filled.history->list({{}, below, 100}, [&](const JobHistory&) { return ++found > 0; });
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(page_of_over_jobs)
    ->Args({100'000, 100'001})
    ->Args({100'000, 50'000})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK(cost_by_user_read)->Arg(10'000)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(cost_by_user_kept)
    ->Arg(10'000)
    ->Arg(100'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(page_of_user_searched)->Arg(10'000)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(page_of_user_apart)->Arg(10'000)->UseRealTime()->Unit(benchmark::kMillisecond);

/// The writer's wait for each batch of a store of that many MiB, with backups of it one after the
/// other beside that or without.
void durable_writes(benchmark::State& state) {
  constexpr std::uint64_t kWrites = 1'000;
  constexpr auto kPace = std::chrono::milliseconds{5};
  const auto mib = static_cast<std::uint64_t>(state.range(0));
  const ScratchStore scratch("store_bench", Catalog{});
  std::mt19937 random(1);
  std::string record(std::size_t{64} << 10, ' ');
  for (std::uint64_t i = 0; i < mib * 16; ++i) {
    // Bytes that no compression makes less.
    for (char& byte : record) byte = static_cast<char>(random());
    StoreBatch batch;
    batch.put(Family::history, key_of(i), record);
    MUSTER_CHECK(!(*scratch).write(batch, Durability::process), "the disk takes records");
  }
  const std::filesystem::path backups = "store_bench_backups.tmp";
  std::filesystem::create_directory(backups);
  const BackupPlan plan{backups, "n", {}, 1, {(*scratch).directory()}};
  std::atomic<bool> over{false};
  std::uint64_t made = 0;
  std::thread beside([&] {
    constexpr std::chrono::sys_seconds kTime{std::chrono::hours{24 * 365 * 40}};
    while (state.range(1) != 0 && !over) made += make_backup(plan, kTime, over) ? 0 : 1;
  });
  std::vector<double> waits;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < kWrites; ++i) {
      std::this_thread::sleep_for(kPace);
      StoreBatch batch;
      batch.put(Family::journal, key_of(i), record.substr(0, 1024));
      const auto begin = std::chrono::steady_clock::now();
      MUSTER_CHECK(!(*scratch).write(batch, Durability::machine), "the disk takes records");
      waits.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
              .count());
    }
  }
  over = true;
  beside.join();
  std::filesystem::remove_all(backups);
  std::sort(waits.begin(), waits.end());
  state.counters["backups"] = static_cast<double>(made);
  state.counters["median_ms"] = waits[waits.size() / 2];
  state.counters["p99_ms"] = waits[waits.size() * 99 / 100];
  state.counters["longest_ms"] = waits.back();
}
BENCHMARK(durable_writes)
    ->Args({100, 0})
    ->Args({100, 1})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
