#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/views.hpp"

namespace muster {

/// A file with the samples of a master's figures, a line each, so that its plots outlive a restart.
/// It is for plots alone: a line that cannot be read is left out, and what the disk does not take
/// is missing.
class FigureLog {
 public:
  /// Reads what is there, at most the last `most` samples, and writes the file anew with these.
  FigureLog(std::filesystem::path file, std::size_t most);

  /// What was there, by time.
  const std::vector<HistorySample>& read() const { return read_; }
  /// Adds a line; the file is written anew when it has twice as many as are kept.
  void append(const HistorySample& sample);

 private:
  void load();
  void rewrite();

  std::filesystem::path file_;
  std::size_t most_;
  std::vector<HistorySample> read_;
  std::vector<HistorySample> kept_;
  std::size_t lines_ = 0;
};

}  // namespace muster
