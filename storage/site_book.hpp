#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/job.hpp"

namespace muster {

/// A job that a site answers for until a master has taken it.
struct Handoff {
  Job job;
  std::uint32_t master = 0;  ///< index of the master that gets it; it never changes
};

/// A submission that was answered: the same token gets the same job.
struct KnownToken {
  std::string token;
  JobId job;
};

/// What a site scheduler knows after a restart.
struct SiteMemory {
  std::vector<Handoff> handoffs;   ///< in the order of their jobs' ids
  std::vector<KnownToken> tokens;  ///< oldest first
  std::uint64_t next_job = 0;      ///< no job has had this number or a later one
};

/// Where a site scheduler writes down what it has promised.
class SiteBook {
 public:
  virtual ~SiteBook() = default;

  /// Everything that was kept and not forgotten.
  virtual SiteMemory recall() = 0;
  /// Keeps the jobs, all or none, with their tokens. `durable` is called once when they are written
  /// down for good, with an empty text, or with the reason why they could not be (nothing is kept
  /// then): before this returns or later, from whatever thread.
  virtual void keep(std::vector<Handoff>&& jobs,
                    std::function<void(const std::string& trouble)> durable) = 0;
  /// A master has the job; its token stays known for a while. Need not be durable at once.
  virtual void handed_over(JobId job) = 0;
};

/// Remembers nothing: for replay, where no site ever starts again.
class ForgetfulSiteBook final : public SiteBook {
 public:
  SiteMemory recall() override { return {}; }
  void keep(std::vector<Handoff>&&,
            std::function<void(const std::string& trouble)> durable) override {
    durable({});
  }
  void handed_over(JobId) override {}
};

}  // namespace muster
