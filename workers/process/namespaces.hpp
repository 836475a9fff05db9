#pragma once

#include <string>
#include <vector>

namespace muster::process {

/// What a process is not to see, and what inside of that it sees all the same.
struct Sight {
  std::vector<std::string> hidden;  ///< folders and files, without links in their paths
  std::vector<std::string> kept;    ///< at most kMostKept
  std::string users;  ///< the maps of the user namespace, in which nobody gets another number
  std::string groups;

  static constexpr std::size_t kMostKept = 8;
};

/// Paths with their links resolved; what is not there, or needs no step of its own, is left out.
Sight sight_of(const std::vector<std::string>& hidden, const std::vector<std::string>& kept);

/// Moves this process to user and mount namespaces of its own, where empty folders that cannot be
/// written stand for what is hidden. System calls only, and for one thread. The user keeps its
/// number and has no rights there once it executes a program, so that nothing can be uncovered; nor
/// may it look into processes outside through /proc. 0, or the errno of what could not be done: the
/// process is of no use then.
int hide(const Sight& sight);

/// Why this process's user cannot be isolated so, found out by doing it in a process that ends;
/// empty: it can. Root cannot: it would keep the right to uncover everything.
std::string namespaces_fault();

}  // namespace muster::process
