#pragma once

#include <cstdint>
#include <filesystem>

#include "model/time.hpp"

namespace muster::process {

/// Claims of the workers of one computer about a full disk of theirs, so that only the attempt that
/// takes the most is ended, and one at a time. A file that they all may write; its blocks are taken
/// while there is room. A worker that cannot use it goes by itself alone.
class DiskClaims {
 public:
  /// `who` is this worker's number, `fresh` how long a claim counts.
  DiskClaims(std::filesystem::path file, std::uint64_t who, Duration fresh);

  /// Makes the file while there is room.
  void prepare() const;
  /// Says what this worker's largest attempt takes. True: no other worker claims more, and none of
  /// the attempts was ended within `rest`.
  bool claim(std::uint64_t bytes, Duration rest) const;
  /// One is being ended for it.
  void ending() const;
  /// The disk is not full any more.
  void withdraw() const;

 private:
  std::filesystem::path file_;
  std::uint64_t who_;
  Duration fresh_;
};

}  // namespace muster::process
