#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/job_views.hpp"

namespace muster::client {

/// The jobs that are connected with one job by conditions, in whichever direction. Jobs may be
/// added in any order; it keeps of each the parts that a picture of them shows.
class JobGraph {
 public:
  /// `root`: the job whose pipeline it is.
  explicit JobGraph(JobId root) : root_(root) {}

  void add(const JobView& job);
  std::size_t size() const { return jobs_.size(); }
  /// No job that was submitted before that one, or with it, has to do with the root: all that its
  /// pipeline waits for is there, and was submitted later. For lists that go from new to old.
  bool is_whole_behind(const JobView& oldest) const;

  /// Its jobs that are not over, each before those that it waits for.
  std::vector<JobId> open_jobs() const;

  /// A table, each job below those that it waits for.
  std::string text() const;
  /// For Graphviz, an edge from each job to those that wait for it.
  std::string dot() const;
  /// A document with the jobs in the order of the table.
  std::string json() const;

 private:
  struct Row {
    std::string name;
    std::string state;
    bool over = false;
    std::vector<AfterView> after{};
    std::optional<Instant> submitted{};
    JobId again_of{};  ///< not valid: it is no resubmission
  };
  struct Pipeline {
    std::vector<JobId> jobs{};     ///< in order
    std::vector<JobId> unknown{};  ///< that these wait for, or waited, and that were not added
  };

  Pipeline pipeline() const;
  std::set<JobId> connected() const;

  JobId root_;
  std::map<JobId, Row> jobs_;
  std::map<JobId, std::set<JobId>> followers_;
  std::map<JobId, std::set<JobId>> again_;  ///< resubmissions of each
};

}  // namespace muster::client
