#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// A folder or file that is to be hidden. A path names a place, not a file: a user who may rename a
/// folder above can put another one there.
struct HiddenPlace {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< 0: any file
  friend bool operator==(const HiddenPlace&, const HiddenPlace&) = default;
};

/// Places that are held, so that no other folder gets the number of one of them.
struct HeldPlaces {
  std::vector<HiddenPlace> places;
  std::vector<Descriptor> held;
};

/// The place with the identity of the folder that is there now. A file has no identity: a change
/// may put a new one in its place.
HiddenPlace identified(const std::string& path);
/// All of them, as they are now.
HeldPlaces held(const std::vector<std::string>& paths);

/// The first of the places at which another folder is than the one that it names, or none; empty
/// where all are as they were.
std::string replaced_place(const std::vector<HiddenPlace>& places);

/// Places that a process is not to see, and places inside of these that stay visible.
struct Sight {
  std::vector<HiddenPlace> hidden;  ///< without links in their paths
  /// Folders above these that the user may rename; the process may not.
  std::vector<std::string> pinned;
  std::vector<std::string> kept;  ///< at most kMostKept
  std::string users;  ///< the maps of the user namespace, in which every user keeps the number
  std::string groups;

  static constexpr std::size_t kMostKept = 8;
};

/// Paths with their links resolved; places that are not there and have no identity, or need no step
/// of their own, are left out.
Sight sight_of(const std::vector<HiddenPlace>& hidden, const std::vector<std::string>& kept);

/// Moves this process to user and mount namespaces of its own, where empty folders that cannot be
/// written stand for what is hidden. System calls only, and for one thread. The user keeps its
/// number and has no rights there once it executes a program, so that nothing can be uncovered; nor
/// may it look into processes outside through /proc, or rename a folder above what is hidden, which
/// would leave the covers of later processes at a place where nothing is. 0, or the errno of what
/// could not be done: the process is of no use then. ESTALE: replaced_place() says where.
int hide(const Sight& sight);

/// Moves this process into the user, mount, network, IPC and host name namespaces of another one,
/// as far as they are not its own. System calls only, and for one thread; it has no more rights
/// there than the other one, once it executes a program. 0, or the errno of what could not be done.
int join_namespaces(pid_t process);

/// Why this process's user cannot be isolated so, found out by doing it in a process that ends;
/// empty: it can. Root cannot: it would keep the right to uncover everything.
std::string namespaces_fault();

}  // namespace muster::process
