#pragma once

#include <functional>
#include <map>

#include "masters/master_recorder.hpp"
#include "model/job_cursor.hpp"

namespace muster {

/// The jobs that are not over, in the order of lists: those that were submitted last come first.
/// With it a page of them costs what it looks at, however many there are. O(log of the jobs) when
/// one comes or ends, nothing at other events.
class OpenJobs final : public EventListener {
 public:
  using Places = std::map<JobPlace, Slot, std::greater<>>;

  explicit OpenJobs(MasterRecorder& recorder) { recorder.listen(*this); }

  const Places& places() const { return places_; }

  void before(const Event& event, const MasterFacts& facts) override;
  void after(const Event& event, const MasterFacts& facts) override;
  void restored(const MasterFacts& facts) override;

 private:
  Places places_;
};

}  // namespace muster
