#include "storage/files/kept_outputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <utility>

namespace muster::files {
namespace {

constexpr std::string_view kHead = "muster-outputs 1 ";
constexpr std::size_t kMostRecordBytes = 512;
/// A folder of records has those of this number of tasks.
constexpr std::uint32_t kTasksOfFolder = 1000;
constexpr std::size_t kMostNames = 10'000'000;

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string encode(const Outputs& outputs) {
  return fmt::format("{}{} {} {} {} {}\n", kHead, outputs.tree.text(), outputs.files, outputs.bytes,
                     outputs.kept_s, outputs.skipped);
}

std::optional<Outputs> decode(std::string_view text, OutputsPlace place) {
  if (!text.starts_with(kHead) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(kHead.size());
  text.remove_suffix(1);
  const auto field = [&text] {
    const std::string_view taken = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
  };
  const auto tree = ContentId::parse(field());
  const auto files = number_of<std::uint64_t>(field());
  const auto bytes = number_of<std::uint64_t>(field());
  const auto kept_s = number_of<std::int64_t>(field());
  const auto skipped = number_of<std::uint64_t>(field());
  if (!tree || !files || !bytes || !kept_s || !skipped || !text.empty()) return std::nullopt;
  return Outputs{place, tree.value(), *files, *bytes, *kept_s, *skipped};
}

std::string record_name(OutputsPlace place) {
  return fmt::format("{}.{}", place.index, place.attempt);
}

std::optional<OutputsPlace> place_of(std::string_view name) {
  const std::size_t point = name.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const auto index = number_of<std::uint32_t>(name.substr(0, point));
  const auto attempt = number_of<std::uint32_t>(name.substr(point + 1));
  // Only as it is written here: no second name has the place.
  if (!index || !attempt || record_name({*index, *attempt}) != name) return std::nullopt;
  return OutputsPlace{*index, *attempt};
}

/// The numbers that name entries of a folder, in order; others are passed over.
Expected<std::vector<std::uint64_t>, FileError> numbers_in(int folder) {
  const auto names = names_in(folder, kMostNames, "outputs");
  if (!names) return names.error();
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names.value()) {
    const auto number = number_of<std::uint64_t>(name);
    if (number && std::to_string(*number) == name) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Expected<std::vector<OutputsPlace>, FileError> places_in(int folder) {
  const auto names = names_in(folder, kMostNames, "outputs");
  if (!names) return names.error();
  std::vector<OutputsPlace> places;
  for (const std::string& name : names.value()) {
    if (const auto place = place_of(name)) places.push_back(*place);
  }
  std::sort(places.begin(), places.end());
  return places;
}

/// A folder that may be gone: empty then.
Expected<Descriptor, FileError> folder_there(int above, const std::string& name) {
  Descriptor folder = open_entry(above, name, O_RDONLY | O_DIRECTORY);
  if (!folder && errno != ENOENT) return system_failure(name, "opened", errno);
  return folder;
}

}  // namespace

FileTrouble KeptOutputs::put(std::uint64_t job, const Outputs& outputs) const {
  // A sweep may remove a folder that is empty at the moment.
  constexpr int kTries = 5;
  FileTrouble trouble;
  for (int i = 0; i < kTries; ++i) {
    trouble = try_to_put(job, outputs);
    if (!trouble || trouble->code != FileError::missing) break;
  }
  return trouble;
}

FileTrouble KeptOutputs::try_to_put(std::uint64_t job, const Outputs& outputs) const {
  // Names of folders before what is in them: a record that is on the disk can be found.
  const auto of_job = made_folder_in(folder_.get(), std::to_string(job));
  if (!of_job) return of_job.error();
  const std::uint32_t thousand = outputs.place.index / kTasksOfFolder;
  const auto of_tasks = made_folder_in(of_job->get(), std::to_string(thousand));
  if (!of_tasks) return of_tasks.error();
  if (auto trouble = sync(folder_.get(), "outputs")) return trouble;
  if (auto trouble = sync(of_job->get(), "the job's outputs")) return trouble;
  return replace_file(of_tasks->get(), record_name(outputs.place), encode(outputs));
}

FileTrouble KeptOutputs::visit(std::uint64_t job, OutputsPlace from, const Visit& visit,
                               const std::function<bool()>& enough) const {
  const auto of_job = folder_there(folder_.get(), std::to_string(job));
  if (!of_job) return of_job.error();
  if (!of_job.value()) return std::nullopt;
  const auto thousands = numbers_in(of_job->get());
  if (!thousands) return thousands.error();
  for (const std::uint64_t thousand : thousands.value()) {
    if (thousand < from.index / kTasksOfFolder) continue;
    const auto of_tasks = folder_there(of_job->get(), std::to_string(thousand));
    if (!of_tasks) return of_tasks.error();
    if (!of_tasks.value()) continue;
    const auto places = places_in(of_tasks->get());
    if (!places) return places.error();
    for (const OutputsPlace& place : places.value()) {
      if (place < from) continue;
      if (enough()) return std::nullopt;
      const std::string name = record_name(place);
      const auto text = read_small_file(of_tasks->get(), name, kMostRecordBytes);
      if (!text && text.error().code == FileError::missing) continue;
      if (!text) return text.error();
      const auto outputs = decode(text.value(), place);
      // One damaged record must not hide the others.
      if (!outputs) continue;
      if (auto trouble = visit(of_tasks->get(), name, *outputs)) return trouble;
    }
  }
  return std::nullopt;
}

Expected<std::vector<Outputs>, FileError> KeptOutputs::list(std::uint64_t job, OutputsPlace from,
                                                            std::size_t most) const {
  std::vector<Outputs> found;
  const auto add = [&found](int, const std::string&, const Outputs& outputs) -> FileTrouble {
    found.push_back(outputs);
    return std::nullopt;
  };
  if (auto trouble = visit(job, from, add, [&] { return found.size() >= most; })) return *trouble;
  return found;
}

Expected<std::vector<std::uint64_t>, FileError> KeptOutputs::jobs() const {
  return numbers_in(folder_.get());
}

FileTrouble KeptOutputs::drop(std::uint64_t job, std::int64_t before_s,
                              const std::function<void(const Outputs&)>& kept) const {
  // By the file system's clock: that of the machine that wrote the record may be any.
  const auto look = [&](int folder, const std::string& name,
                        const Outputs& outputs) -> FileTrouble {
    struct stat status {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    if (status.st_mtim.tv_sec >= before_s) {
      kept(outputs);
      return std::nullopt;
    }
    if (unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return std::nullopt;
    return system_failure(name, "removed", errno);
  };
  if (auto trouble = visit(job, {}, look, [] { return false; })) return trouble;
  const auto of_job = folder_there(folder_.get(), std::to_string(job));
  if (!of_job) return of_job.error();
  if (!of_job.value()) return std::nullopt;
  const auto thousands = numbers_in(of_job->get());
  if (!thousands) return thousands.error();
  // Those that have something in them stay.
  for (const std::uint64_t thousand : thousands.value()) {
    const auto of_tasks = folder_there(of_job->get(), std::to_string(thousand));
    if (of_tasks && of_tasks.value()) remove_leftovers(of_tasks->get(), kNewSuffix, before_s);
    unlinkat(of_job->get(), std::to_string(thousand).c_str(), AT_REMOVEDIR);
  }
  unlinkat(folder_.get(), std::to_string(job).c_str(), AT_REMOVEDIR);
  return std::nullopt;
}

}  // namespace muster::files
