// Costs of the stores of cloud and masters for their actors, each beside its plain form (one wait
// for the disk a record; a read of every job that is over). The folder is made below the working
// directory, which should be on a disk and not in memory: the wait for it is measured.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "storage/stores/rocks_cloud_store.hpp"
#include "storage/stores/store_history.hpp"

namespace muster {
namespace {

/// A new store, which goes away with the object.
class ScratchStore {
 public:
  ScratchStore() {
    std::filesystem::remove_all(kFolder);
    StoreOptions options;
    options.meta = {"bench", "bench", catalog};
    auto opened = Store::open(kFolder, options);
    MUSTER_CHECK(opened, "the bench has a folder to write to");
    store = std::move(opened).value();
  }
  ~ScratchStore() {
    store.reset();
    std::filesystem::remove_all(kFolder);
  }

  Catalog catalog;
  std::unique_ptr<Store> store;

 private:
  static constexpr const char* kFolder = "store_bench.tmp";
};

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
    const ScratchStore scratch;
    PlainCloudStore records(*scratch.store);
    for (std::uint64_t i = 0; i < count; ++i) records.put(rented(i, refused));
  }
}

/// The time until the last record is durable; `on_actor_ms` is what its actor spends of it.
void records_in_groups(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const bool refused = state.range(1) != 0;
  double on_actor_s = 0;
  for (auto _ : state) {
    const ScratchStore scratch;
    const auto records = RocksCloudStore::open(*scratch.store);
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
  explicit FilledHistory(std::uint64_t jobs) : journal(*scratch.store, scratch.catalog, {}) {
    auto opened = StoreHistory::open(*scratch.store, journal, scratch.catalog);
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

  ScratchStore scratch;
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

}  // namespace
}  // namespace muster

BENCHMARK_MAIN();
