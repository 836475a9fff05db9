#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
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
  /// Writes what waits.
  ~FigureLog();
  FigureLog(const FigureLog&) = delete;
  FigureLog& operator=(const FigureLog&) = delete;

  /// The samples of an earlier process, by time.
  const std::vector<HistorySample>& read() const { return read_; }
  /// Has the log's thread add a line, so that the caller does not wait for the disk; while that is
  /// so slow that `most` samples wait, further ones are dropped. The file is written anew when it
  /// has twice as many lines as are kept.
  void append(const HistorySample& sample);

 private:
  void load();
  void rewrite();
  void run();
  void put(const HistorySample& sample);

  const std::filesystem::path file_;
  const std::size_t most_;
  std::vector<HistorySample> read_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<HistorySample> waiting_;
  bool stops_ = false;
  // Of the thread alone, once it runs.
  std::vector<HistorySample> kept_;
  std::size_t lines_ = 0;
  std::thread thread_;
};

}  // namespace muster
