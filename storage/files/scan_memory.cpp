#include "storage/files/scan_memory.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "storage/files/file_io.hpp"
#include "storage/files/path_text.hpp"

namespace muster::files {
namespace {

constexpr std::string_view kMemoryHead = "muster-scan 1\n";
constexpr std::size_t kMostMemoryBytes = std::size_t{256} << 20;
constexpr std::chrono::seconds kTooYoung_s{2};
constexpr std::size_t kSumLine = 2 * ContentId::kBytes + 1;

/// Takes the text up to the next blank off the line, with the blank.
std::string_view take_field(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

template <class Number>
bool take_number(std::string_view& line, Number& number) {
  const std::string_view field = take_field(line);
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace

FileStamp FileStamp::of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_size), nanoseconds_of(status.st_mtim),
          nanoseconds_of(status.st_ctim), status.st_ino, status.st_dev};
}

ScanMemory::ScanMemory(std::chrono::sys_time<std::chrono::nanoseconds> begun)
    : trusted_before_ns_((begun - kTooYoung_s).time_since_epoch().count()) {}

ScanMemory ScanMemory::read(const std::filesystem::path& file,
                            std::chrono::sys_time<std::chrono::nanoseconds> begun) {
  ScanMemory memory(begun);
  const auto folder = open_folder(file.has_parent_path() ? file.parent_path() : ".");
  if (!folder) return memory;
  const auto text = read_small_file(folder->get(), file.filename().string(), kMostMemoryBytes);
  if (!text) return memory;
  if (auto files = decode(text.value())) memory.before_ = std::move(*files);
  return memory;
}

std::optional<ContentId> ScanMemory::find(const std::string& path, const FileStamp& stamp) const {
  const auto known = before_.find(path);
  if (known == before_.end() || known->second.stamp != stamp) return std::nullopt;
  return known->second.content;
}

void ScanMemory::note(const std::string& path, const FileStamp& stamp, const ContentId& content) {
  if (stamp.changed_ns >= trusted_before_ns_ || stamp.inode_time_ns >= trusted_before_ns_) return;
  if (now_.size() < kMostFiles) now_.insert_or_assign(path, Known{stamp, content});
}

FileTrouble ScanMemory::write(const std::filesystem::path& file) const {
  const auto folder = open_folder(file.has_parent_path() ? file.parent_path() : ".");
  if (!folder) return folder.error();
  return replace_file(folder->get(), file.filename().string(), encode());
}

std::string ScanMemory::encode() const {
  std::string text(kMemoryHead);
  for (const auto& [path, known] : now_) {
    const FileStamp& stamp = known.stamp;
    text +=
        fmt::format("{} {} {} {} {} {} {}\n", stamp.bytes, stamp.changed_ns, stamp.inode_time_ns,
                    stamp.inode, stamp.device, known.content.text(), escaped_field(path));
  }
  return text + ContentId::of(text).text() + "\n";
}

std::optional<ScanMemory::Files> ScanMemory::decode(std::string_view text) {
  if (!text.starts_with(kMemoryHead) || text.size() < kMemoryHead.size() + kSumLine) {
    return std::nullopt;
  }
  const std::string_view sum = text.substr(text.size() - kSumLine);
  text.remove_suffix(kSumLine);
  if (ContentId::of(text).text() + "\n" != sum) return std::nullopt;
  text.remove_prefix(kMemoryHead.size());
  Files files;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    FileStamp stamp;
    const bool numbers = take_number(line, stamp.bytes) && take_number(line, stamp.changed_ns) &&
                         take_number(line, stamp.inode_time_ns) && take_number(line, stamp.inode) &&
                         take_number(line, stamp.device);
    const auto content = ContentId::parse(take_field(line));
    auto path = unescaped_field(line);
    if (!numbers || !content || !path || files.size() == kMostFiles) return std::nullopt;
    files.insert_or_assign(std::move(*path), Known{stamp, content.value()});
  }
  return files;
}

}  // namespace muster::files
