#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::replay {

/// Brings any number of records into the order of their keys within a bound of memory: records
/// beyond it are sorted into files that have no name and are gone with the process.
class RecordSorter {
 public:
  /// By `first`, then by `second`; records of equal keys come in no certain order.
  struct Key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Take = std::function<bool(const Key&, std::string_view record)>;

  explicit RecordSorter(std::size_t max_memory_bytes = std::size_t{32} << 20);

  void add(const Key& key, std::string_view record);
  /// Shows all records in order until `take` answers false; nothing may be added afterwards. False
  /// when the disk did not take or give back what was put there; failure() says why.
  bool each(const Take& take);
  const std::string& failure() const { return failure_; }

 private:
  struct Entry {
    Key key;
    std::size_t at = 0;  ///< where the record begins in `bytes_`
    std::uint32_t size = 0;
  };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, CloseFile>;
  /// One sorted part of the file.
  struct Part {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  class PartReader;

  void sort();
  void spill();
  void fail(std::string_view what);
  bool merge(const Take& take);

  std::size_t max_memory_bytes_;
  std::vector<Entry> entries_;
  std::string bytes_;
  File file_;
  std::uint64_t written_ = 0;
  std::vector<Part> parts_;
  std::string failure_;
};

}  // namespace muster::replay
