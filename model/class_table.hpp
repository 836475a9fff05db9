#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/ids.hpp"

namespace muster {

/// The workload classes that tasks of unfinished jobs have, and those that tasks had last: a job's
/// class is its name unless it states one, so that the names of all that ever were would be without
/// an end. Numbers rise with each new class and are never used again, so a number that is kept
/// never comes to mean another class.
class ClassTable {
 public:
  /// Classes without tasks that are remembered at most; those that lost their last task latest
  /// stay.
  static constexpr std::size_t kIdle = 4096;

  /// A task of the class comes.
  ClassId join(const std::string& name);
  /// As join() of the name, for a class that another task has.
  void join(ClassId id) { ++rows_.at(id.value).tasks; }
  /// A task that had the class is gone.
  void leave(ClassId id);

  std::size_t size() const { return rows_.size(); }
  std::optional<ClassId> find(const std::string& name) const;
  /// Null when the class has been forgotten.
  const std::string* name(ClassId id) const;

  /// A table as plain data: the names by rising numbers, which begin at 0 anew, and positions in
  /// them of the classes that no task has, the one that lost its last task first before the others.
  struct Snapshot {
    std::vector<std::string> names;
    std::vector<std::uint32_t> idle;
  };
  /// With the number that each class has in the snapshot.
  std::pair<Snapshot, std::unordered_map<std::uint32_t, ClassId>> snapshot() const;
  /// In place of what is known; which tasks there are is for join() to say. Classes that the list
  /// of idle ones leaves out, as those of earlier versions do, come first in it.
  void restore(Snapshot snapshot);
  /// Once the tasks of a snapshot have joined.
  void settle();

  /// Whether it has that number of tasks of each class.
  bool counts(const std::map<std::uint32_t, std::uint32_t>& tasks) const;

 private:
  struct Row {
    std::string name;
    std::uint32_t tasks = 0;
    std::uint64_t idle_since = 0;  ///< its place among the idle ones, while no task has it
  };
  void rest(std::uint32_t id, Row& row);

  std::map<std::uint32_t, Row> rows_;
  std::unordered_map<std::string, ClassId> ids_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> idle_;
  std::uint32_t next_ = 0;
  std::uint64_t rests_ = 0;
};

}  // namespace muster
