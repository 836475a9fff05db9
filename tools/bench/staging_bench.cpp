// Staging of a folder: the first scan of many files into a store of contents, beside `cp -a` of the
// folder, and a second scan of the unchanged folder with the memory of the first. The folders are
// made below the working directory, or below --folder, which should be on a disk: waits for it are
// measured.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "model/check.hpp"
#include "model/rng.hpp"
#include "storage/files/folder_scan.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/object_folder.hpp"
#include "storage/files/scan_memory.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Wanted {
  std::uint64_t files = 10'000;
  std::uint64_t mib = 1'024;
  fs::path folder = ".";
  bool json = false;
};

/// Seconds that the work takes.
template <class Work>
double seconds_of(Work work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Files of one size with bytes of chance, 100 in a folder.
void make_files(const fs::path& top, const Wanted& wanted) {
  Rng rng(1);
  std::string content((wanted.mib << 20) / wanted.files, ' ');
  for (std::uint64_t number = 0; number < wanted.files; ++number) {
    for (std::size_t at = 0; at + 8 <= content.size(); at += 8) {
      const std::uint64_t bits = rng.next();
      content.replace(at, 8, reinterpret_cast<const char*>(&bits), 8);
    }
    const fs::path folder = top / std::to_string(number / 100);
    fs::create_directories(folder);
    std::ofstream(folder / std::to_string(number), std::ios::binary) << content;
  }
}

/// Contents that a scan has read.
std::uint64_t scan(const fs::path& top, ObjectFolder& store, const fs::path& memory_file) {
  // Files of the bench are a few seconds old: to their memory the scan begins an hour later.
  const auto file_time = fs::last_write_time(top) + std::chrono::hours{1};
  ScanMemory memory = ScanMemory::read(memory_file, std::chrono::file_clock::to_sys(file_time));
  ScanOptions options;
  options.memory = &memory;
  ObjectBatch batch(store);
  const auto folder = open_folder(top);
  MUSTER_CHECK(folder, "the bench has made its folder");
  const auto found = scan_folder(folder->get(), batch, options);
  MUSTER_CHECK(found, "the bench's folder can be scanned");
  MUSTER_CHECK(!memory.write(memory_file), "the bench can write its memory");
  return found->count.files_read;
}

int measure(const Wanted& wanted) {
  const fs::path scratch = wanted.folder / "staging_bench.tmp";
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  make_files(scratch / "from", wanted);
  const auto store = ObjectFolder::open_in(scratch / "store");
  MUSTER_CHECK(store, "the bench has a folder for its store");
  const std::string copy =
      fmt::format("cp -a '{}' '{}'", (scratch / "from").string(), (scratch / "copy").string());
  bool copied = false;
  const double copy_s = seconds_of([&] { copied = std::system(copy.c_str()) == 0; });
  std::uint64_t first_read = 0, again_read = 0;
  const fs::path memory = scratch / "memory";
  const double first_s =
      seconds_of([&] { first_read = scan(scratch / "from", *store.value(), memory); });
  const double again_s =
      seconds_of([&] { again_read = scan(scratch / "from", *store.value(), memory); });
  fs::remove_all(scratch);
  if (wanted.json) {
    std::cout << fmt::format(
        "{{\"files\": {}, \"mib\": {}, \"cp_s\": {:.3f}, \"scan_put_s\": {:.3f}, "
        "\"unchanged_s\": {:.3f}, \"scan_put_to_cp\": {:.2f}, \"unchanged_to_cp\": {:.3f}}}\n",
        wanted.files, wanted.mib, copy_s, first_s, again_s, first_s / copy_s, again_s / copy_s);
  } else {
    std::cout << fmt::format(
        "{} files, {} MiB\n"
        "cp -a       {:8.3f} s\n"
        "scan, put   {:8.3f} s  {:.2f} of cp -a, {} files read, durable\n"
        "unchanged   {:8.3f} s  {:.3f} of cp -a, {} files read\n",
        wanted.files, wanted.mib, copy_s, first_s, first_s / copy_s, first_read, again_s,
        again_s / copy_s, again_read);
  }
  return copied && first_read == wanted.files && again_read == 0 ? 0 : 1;
}

int run(const std::vector<std::string_view>& words) {
  Wanted wanted;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--json") {
      wanted.json = true;
      continue;
    }
    const bool last = at + 1 == words.size();
    const std::string value(last ? "" : words[at + 1]);
    if (!last && words[at] == "--folder")
      wanted.folder = value;
    else if (!last && words[at] == "--files")
      wanted.files = std::strtoull(value.c_str(), nullptr, 10);
    else if (!last && words[at] == "--mib")
      wanted.mib = std::strtoull(value.c_str(), nullptr, 10);
    else
      wanted.files = 0;
    ++at;
  }
  if (wanted.files > 0 && wanted.files <= 99'000) return measure(wanted);
  std::cerr << "usage: staging_bench [--files N] [--mib N] [--folder PATH] [--json]; "
               "--files has to be from 1 to 99000\n";
  return 2;
}

}  // namespace
}  // namespace muster::files

int main(int argc, char** argv) {
  return muster::files::run({argv + 1, argv + argc});
}
