#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "model/event.hpp"

// Builders with valid defaults: a test states only what it is about.

namespace muster::test {

inline constexpr Instant at_s(double seconds) {
  return Instant{from_seconds(seconds)};
}

/// The four instance types of the Eva paper's Table 3(a).
inline Catalog table3_catalog() {
  const auto type = [](std::string name, std::string family, Resources capacity, double usd_h) {
    InstanceType t;
    t.name = std::move(name);
    t.family = std::move(family);
    t.capacity = capacity;
    t.on_demand = Price::from_usd_h(usd_h);
    t.acquire = std::chrono::seconds{10};
    t.setup = std::chrono::seconds{100};
    t.terminate = std::chrono::seconds{1};
    return t;
  };
  return Catalog({type("it1", "gpu", Resources::of(4, 16, 244), 12),
                  type("it2", "gpu", Resources::of(1, 4, 61), 3),
                  type("it3", "cpu", Resources::of(0, 8, 32), 0.8),
                  type("it4", "cpu", Resources::of(0, 4, 16), 0.4)});
}

inline TypeId type_named(const Catalog& catalog, std::string_view name) {
  return catalog.find(name).value();
}

class JobBuilder {
 public:
  explicit JobBuilder(std::uint64_t id) {
    job_.id = JobId{id};
    job_.name = "job-" + std::to_string(id);
    job_.user = "ann";
    job_.workload_class = "plain";
    job_.gang = true;
    add_task(id);
  }
  JobBuilder& tasks(std::size_t count) {
    const std::uint64_t first = job_.tasks.front().id.value;
    while (job_.tasks.size() < count) add_task(first * 100 + job_.tasks.size());
    return *this;
  }
  JobBuilder& demand(const Resources& amount) { return demands(Demands(amount)); }
  JobBuilder& demands(const Demands& demands) {
    for (TaskSpec& task : job_.tasks) task.demands = demands;
    return *this;
  }
  JobBuilder& delays(const Delays& delays) {
    for (TaskSpec& task : job_.tasks) task.delays = delays;
    return *this;
  }
  JobBuilder& image(const std::string& image) {
    for (TaskSpec& task : job_.tasks) task.image = image;
    return *this;
  }
  JobBuilder& workload_class(std::string name) {
    job_.workload_class = std::move(name);
    return *this;
  }
  JobBuilder& gang(bool gang) {
    job_.gang = gang;
    return *this;
  }
  /// A worker is what a task demands; it runs as `least` of them first.
  JobBuilder& elastic(std::uint32_t least, std::uint32_t most, ElasticEpochs epochs = {}) {
    job_.kind = ElasticSpec{least, most, {}, std::move(epochs)};
    return tasks(most).gang(true);
  }
  Job build() const { return job_; }

 private:
  void add_task(std::uint64_t id) {
    TaskSpec task = job_.tasks.empty() ? TaskSpec{} : job_.tasks.front();
    if (job_.tasks.empty()) task.demands = Demands(Resources::of(0, 2, 4));
    task.id = TaskId{id};
    job_.tasks.push_back(std::move(task));
  }

  Job job_;
};

}  // namespace muster::test
