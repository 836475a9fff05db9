#pragma once

#include <functional>
#include <optional>

#include "masters/actor/apart_reads.hpp"
#include "masters/view/cell_view.hpp"

namespace muster {

/// Where attempts are and were.
class AttemptPlaces {
 public:
  virtual ~AttemptPlaces() = default;

  /// On which instance the attempt is now, as far as the master knows; nothing: it is on no
  /// instance.
  virtual std::optional<InstanceId> runs_on(TaskId task, Attempt attempt) const = 0;
  /// The instance is not gone, as far as the master knows.
  virtual bool is_here(InstanceId id) const = 0;
  /// Where the task's newest attempt is or was. Nothing: its job is over, and read() is to be
  /// asked.
  virtual std::optional<AttemptPlace> known(TaskId task) const = 0;
  /// `then` is called later. False: it is not, for too many wait already.
  virtual bool read(TaskId task, std::function<void(const AttemptPlace&)> then) const = 0;
};

/// As a master and its history know them.
class MasterPlaces final : public AttemptPlaces {
 public:
  MasterPlaces(const Master& master, const ApartReads& reads) : master_(master), reads_(reads) {}

  std::optional<InstanceId> runs_on(TaskId task, Attempt attempt) const override;
  bool is_here(InstanceId id) const override { return master_.state().find(id) != nullptr; }
  std::optional<AttemptPlace> known(TaskId task) const override;
  bool read(TaskId task, std::function<void(const AttemptPlace&)> then) const override;

 private:
  const Master& master_;
  const ApartReads& reads_;
};

}  // namespace muster
