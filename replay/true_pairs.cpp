#include "replay/true_pairs.hpp"

#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace muster::replay {
namespace {

class TruePairs {
 public:
  TruePairs(const JobSource& workload, std::shared_ptr<Interference> interference)
      : workload_(workload), interference_(std::move(interference)) {}

  double rate(const std::string& task, const std::string& neighbour) {
    const std::array<std::uint32_t, 2> both = {number_of(task), number_of(neighbour)};
    return interference_->throughput(both)[0];
  }

 private:
  std::uint32_t number_of(const std::string& name) {
    if (!std::exchange(read_, true)) read();
    const auto known = numbers_.find(name);
    return known != numbers_.end() ? known->second : interference_->index_of(name);
  }
  void read() {
    for (std::size_t i = 0; i < workload_.size(); ++i) {
      const WorkloadJob job = workload_.job(i);
      const std::string& stated = job.job.workload_class;
      // A job that states no class is one of its own name.
      const std::string& name = stated.empty() ? job.job.name : stated;
      if (!numbers_.contains(name)) {
        numbers_.emplace(name, interference_->index_of(job.truth.interference));
      }
    }
  }

  const JobSource& workload_;
  std::shared_ptr<Interference> interference_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< looked up only
  bool read_ = false;
};

}  // namespace

PairTruth true_pairs(const JobSource& workload, std::shared_ptr<Interference> interference) {
  auto pairs = std::make_shared<TruePairs>(workload, std::move(interference));
  return [pairs](const std::string& task, const std::string& neighbour) {
    return pairs->rate(task, neighbour);
  };
}

}  // namespace muster::replay
