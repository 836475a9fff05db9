#include "storage/files/object_folder.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "storage/files/folder_scan.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/scan_memory.hpp"
#include "tests/storage/files/staged_folder.hpp"
#include "tests/support/golden.hpp"

namespace {

/// Folders and files that the process has waited for, by their inodes, and the error that it met.
std::set<ino_t>* synced = nullptr;
int sync_error = 0;

/// Happens once, before the next folder is listed.
std::function<void()> before_listing;

}  // namespace

/// In the place of the C library's, so that tests see the waits for the disk and can have them
/// fail.
extern "C" int fsync(int file) {
  if (sync_error != 0) {
    errno = sync_error;
    return -1;
  }
  struct stat status {};
  static std::mutex mutex;  // several threads wait at once
  const std::lock_guard lock(mutex);
  if (synced != nullptr && fstat(file, &status) == 0) synced->insert(status.st_ino);
  return static_cast<int>(syscall(SYS_fsync, file));
}

extern "C" DIR* fdopendir(int folder) {
  if (before_listing) std::exchange(before_listing, nullptr)();
  return reinterpret_cast<DIR* (*)(int)>(dlsym(RTLD_NEXT, "fdopendir"))(folder);
}

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using test::IsGolden;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

constexpr Time kNoTime{};
const Time kAnyTime = Time::max();

class ObjectFolderTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectFolder> open() const { return valid(ObjectFolder::open_in(path())); }
  fs::path path() const { return beside_ / "store"; }
  fs::path path_of(const ContentId& id) const {
    return path() / "objects" / id.text().substr(0, 2) / id.text().substr(2);
  }
  static ContentId put(ObjectFolder& store, std::string_view content) {
    ObjectWriter writer = valid(ObjectWriter::begin(store));
    EXPECT_FALSE(writer.add(content));
    return valid(writer.finish());
  }
  std::vector<fs::path> temp_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path() / "temp")) {
      const bool is_lock = entry.path().extension() == ".lock";
      if (entry.is_regular_file() && !is_lock) files.push_back(entry.path());
    }
    return files;
  }
  std::size_t temps() const { return temp_files().size(); }
  void age_temps(fs::file_time_type time) const {
    for (const fs::path& file : temp_files()) fs::last_write_time(file, time);
  }
  static std::string read(ObjectFolder& store, const ContentId& id) {
    const Descriptor file = valid(store.open_read(id));
    std::string text(100, '\0');
    text.resize(static_cast<std::size_t>(::read(file.get(), text.data(), text.size())));
    return text;
  }
  static ino_t inode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_ino;
  }
  /// Inodes that the work waits for the disk with.
  template <class Work>
  static std::set<ino_t> synced_by(Work work) {
    std::set<ino_t> inodes;
    synced = &inodes;
    work();
    synced = nullptr;
    return inodes;
  }
  /// Sweeps from beginning to end, step by step.
  static ObjectUsage sweep(ObjectFolder& store, SweepOrder order, int* steps = nullptr) {
    ObjectUsage removed;
    for (;;) {
      const SweepStep step = valid(store.sweep(order));
      removed.objects += step.removed.objects;
      removed.bytes += step.removed.bytes;
      if (steps != nullptr) ++*steps;
      if (!step.next) return removed;
      order.from = *step.next;
    }
  }

  StagedFolder beside_;
};

TEST_F(ObjectFolderTest, gives_a_content_back_by_its_id) {
  const auto store = open();
  const ContentId id = put(*store, "text");
  EXPECT_EQ(id, ContentId::of("text"));
  EXPECT_EQ(read(*store, id), "text");
  EXPECT_EQ(valid(store->size(id)), 4U);
  EXPECT_TRUE(valid(store->keep(id)));
  EXPECT_FALSE(store->check(id));
  EXPECT_EQ(valid(store->usage()).objects, 1U);
  EXPECT_EQ(valid(store->usage()).bytes, 4U);
  EXPECT_EQ(read(*open(), id), "text") << "another opening";
}

TEST_F(ObjectFolderTest, has_no_content_that_was_not_put) {
  const auto store = open();
  const ContentId id = ContentId::of("absent");
  EXPECT_FALSE(valid(store->keep(id)));
  EXPECT_EQ(store->open_read(id).error().code, FileError::missing);
  EXPECT_EQ(store->size(id).error().code, FileError::missing);
  EXPECT_EQ(store->check(id)->code, FileError::missing);
  EXPECT_THAT(store->open_read(id).error().message, IsGolden());
}

TEST_F(ObjectFolderTest, is_closed_to_other_users_and_runs_nothing) {
  const auto store = open();
  const fs::path object = path_of(put(*store, "#!/bin/sh\n"));
  EXPECT_EQ(fs::status(object).permissions(), fs::perms{0600});
  EXPECT_EQ(fs::status(object.parent_path()).permissions(), fs::perms{0700});
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms{0700});
}

TEST_F(ObjectFolderTest, takes_no_content_that_is_not_as_it_was_announced) {
  const auto store = open();
  ObjectWriter writer = valid(ObjectWriter::begin(*store));
  EXPECT_FALSE(writer.add("forged"));
  const auto refused = writer.finish(ContentId::of("true"));
  EXPECT_EQ(refused.error().code, FileError::damaged);
  EXPECT_THAT(refused.error().message, IsGolden());
  EXPECT_EQ(valid(store->usage()).objects, 0U);
  EXPECT_EQ(temps(), 0U);
}

TEST_F(ObjectFolderTest, has_nothing_of_a_content_that_was_not_finished) {
  const auto store = open();
  {
    ObjectWriter writer = valid(ObjectWriter::begin(*store));
    EXPECT_FALSE(writer.add("half"));
    EXPECT_EQ(temps(), 1U);
  }
  EXPECT_EQ(temps(), 0U);
}

TEST_F(ObjectFolderTest, loses_what_a_killed_process_has_left_and_keeps_what_others_write) {
  const auto store = open();
  ObjectWriter living = valid(ObjectWriter::begin(*store));
  EXPECT_FALSE(living.add("here"));
  const pid_t child = fork();
  if (child == 0) {
    const auto dying = ObjectFolder::open_in(path());
    auto writer = ObjectWriter::begin(*dying.value());
    writer->add("gone");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(temps(), 2U);
  const auto next = open();
  EXPECT_EQ(temps(), 1U);
  EXPECT_EQ(read(*next, valid(living.finish())), "here");
}

TEST_F(ObjectFolderTest, says_that_a_content_is_damaged_and_takes_it_again) {
  const auto store = open();
  const ContentId id = put(*store, "text");
  std::ofstream(path_of(id)) << "tent";
  const auto damage = store->check(id);
  EXPECT_EQ(damage->code, FileError::damaged);
  EXPECT_THAT(damage->message, IsGolden());
  EXPECT_FALSE(valid(store->keep(id)));
  put(*store, "text");
  EXPECT_FALSE(store->check(id));
}

TEST_F(ObjectFolderTest, puts_a_content_anew_that_was_cut_off) {
  const auto store = open();
  const ContentId id = put(*store, "text");
  fs::resize_file(path_of(id), 2);
  put(*store, "text");
  EXPECT_FALSE(store->check(id));
}

TEST_F(ObjectFolderTest, follows_no_link_in_the_place_of_an_object) {
  const auto store = open();
  const ContentId id = put(*store, "text");
  fs::remove(path_of(id));
  fs::create_symlink("/etc/passwd", path_of(id));
  EXPECT_FALSE(store->open_read(id));
  EXPECT_FALSE(valid(store->keep(id)));
}

TEST_F(ObjectFolderTest, opens_no_folder_that_is_something_else) {
  beside_.file("store/mine");
  const auto refused = ObjectFolder::open_in(path());
  EXPECT_EQ(refused.error().code, FileError::refused);
  EXPECT_THAT(refused.error().message, IsGolden());
  fs::remove_all(path());
  beside_.file("store/format", "muster-objects 2\n");
  EXPECT_EQ(ObjectFolder::open_in(path()).error().code, FileError::invalid);
  EXPECT_EQ(ObjectFolder::open_in(beside_ / "absent/store").error().code, FileError::missing);
  beside_.file("plain");
  EXPECT_FALSE(ObjectFolder::open_in(beside_ / "plain"));
}

TEST_F(ObjectFolderTest, goes_on_with_a_making_that_was_cut_short) {
  fs::create_directories(path() / "objects");
  beside_.file("store/lock", "").file("store/format.new", "must");
  const auto store = open();
  put(*store, "text");
}

TEST_F(ObjectFolderTest, takes_the_store_that_another_process_makes_meanwhile) {
  beside_.file("store/lock", "");
  before_listing = [&] { beside_.file("store/format", "muster-objects 1\n"); };
  const auto store = ObjectFolder::open_in(path());
  ASSERT_TRUE(store) << store.error().message;
  fs::remove_all(path());
  beside_.file("store/lock", "");
  before_listing = [&] { beside_.file("store/format", "muster-objects 2\n"); };
  EXPECT_EQ(ObjectFolder::open_in(path()).error().code, FileError::invalid);
}

TEST_F(ObjectFolderTest, leaves_nothing_of_a_content_that_the_disk_does_not_take) {
  EXPECT_EQ(system_failure("a", "written", ENOSPC).code, FileError::no_space);
  EXPECT_EQ(system_failure("a", "written", EDQUOT).code, FileError::no_space);
  const auto store = open();
  {
    ObjectWriter writer = valid(ObjectWriter::begin(*store));
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{16, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const auto trouble = writer.add(std::string(100, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(trouble);
    EXPECT_TRUE(writer.add("y")) << "a writer that has failed takes nothing more";
    EXPECT_FALSE(writer.finish());
  }
  EXPECT_EQ(temps(), 0U);
  EXPECT_EQ(valid(store->usage()).objects, 0U);
}

TEST_F(ObjectFolderTest, sweeps_what_is_old_and_has_no_keeper) {
  const auto store = open();
  const ContentId kept = put(*store, "kept");
  const ContentId old = put(*store, "older");
  const auto keep = [&](const ContentId& id) { return id == kept; };
  EXPECT_EQ(sweep(*store, {keep, kNoTime}).objects, 0U) << "nothing is so old";
  const ObjectUsage removed = sweep(*store, {keep, kAnyTime});
  EXPECT_EQ(removed.objects, 1U);
  EXPECT_EQ(removed.bytes, 5U);
  EXPECT_FALSE(valid(store->keep(old)));
  EXPECT_TRUE(valid(store->keep(kept)));
}

TEST_F(ObjectFolderTest, sweeps_no_object_that_was_put_again_or_kept) {
  const auto store = open();
  const auto age = [&](const ContentId& id) {
    fs::last_write_time(path_of(id), std::chrono::file_clock::from_sys(std::chrono::sys_seconds{}));
  };
  const SweepOrder order{[](const ContentId&) { return false; }, Time{std::chrono::hours{1}}};
  const ContentId again = put(*store, "again"), kept = put(*store, "kept"),
                  old = put(*store, "old");
  for (const ContentId& id : {again, kept, old}) age(id);
  put(*store, "again");
  EXPECT_TRUE(valid(store->keep(kept)));
  EXPECT_EQ(sweep(*store, order).objects, 1U);
  EXPECT_FALSE(valid(store->keep(old)));
}

TEST_F(ObjectFolderTest, sweeps_no_object_that_was_written_long_before_it_was_named) {
  const auto store = open();
  ObjectWriter writer = valid(ObjectWriter::begin(*store));
  EXPECT_FALSE(writer.add("slow"));
  const auto long_ago = std::chrono::file_clock::from_sys(std::chrono::sys_seconds{});
  age_temps(long_ago);
  const ContentId id = valid(writer.finish());
  const SweepOrder order{[](const ContentId&) { return false; }, Time{std::chrono::hours{1}}};
  EXPECT_EQ(sweep(*store, order).objects, 0U);
  EXPECT_TRUE(valid(store->keep(id)));
}

TEST_F(ObjectFolderTest, names_no_content_that_the_disk_has_cut_off) {
  const auto store = open();
  ObjectWriter writer = valid(ObjectWriter::begin(*store));
  EXPECT_FALSE(writer.add("text"));
  for (const fs::path& file : temp_files()) fs::resize_file(file, 2);
  EXPECT_FALSE(writer.finish());
  EXPECT_EQ(valid(store->usage()).objects, 0U);
}

TEST_F(ObjectFolderTest, has_all_folders_of_objects_from_its_opening_on) {
  const auto store = open();
  EXPECT_EQ(std::distance(fs::directory_iterator(path() / "objects"), {}), 256);
}

TEST_F(ObjectFolderTest, waits_for_the_names_of_its_folders_at_each_opening) {
  for (int opening = 0; opening < 2; ++opening) {
    const auto inodes = synced_by([&] { open(); });
    EXPECT_THAT(inodes, IsSupersetOf({inode_of(path() / "objects"), inode_of(path()),
                                      inode_of(path().parent_path())}));
  }
}

TEST_F(ObjectFolderTest, keeps_an_object_only_when_the_disk_has_its_name) {
  const auto store = open();
  const ContentId id = put(*store, "text");
  const ino_t folder = inode_of(path_of(id).parent_path());
  EXPECT_THAT(synced_by([&] { EXPECT_TRUE(valid(store->keep(id))); }), ElementsAre(folder));
  ObjectBatch batch(*store);
  EXPECT_THAT(synced_by([&] { EXPECT_TRUE(valid(batch.has(id, 4))); }), IsEmpty());
  EXPECT_THAT(synced_by([&] { EXPECT_FALSE(batch.finish()); }), ElementsAre(folder));
}

TEST_F(ObjectFolderTest, sweeps_in_steps_that_look_at_a_number_of_objects) {
  const auto store = open();
  for (int i = 0; i < 50; ++i) put(*store, std::to_string(i));
  int steps = 0;
  const SweepOrder order{[](const ContentId&) { return false; }, kAnyTime, 7};
  EXPECT_EQ(sweep(*store, order, &steps).objects, 50U);
  EXPECT_EQ(steps, 8);
  EXPECT_EQ(valid(store->usage()).objects, 0U);
}

TEST_F(ObjectFolderTest, takes_equal_contents_of_several_at_once) {
  const auto store = open(), other = open();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < 20; ++i) put(number % 2 ? *store : *other, std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(valid(store->usage()).objects, 20U);
  EXPECT_EQ(temps(), 0U);
}

class ObjectBatchTest : public ObjectFolderTest {
 protected:
  Expected<ContentId, FileError> put_file(ObjectBatch& batch, const std::string& content,
                                          std::uint64_t bytes) {
    beside_.file("from", content);
    return batch.put(open_entry(beside_.open().get(), "from", O_RDONLY).get(), bytes, {});
  }
};

TEST_F(ObjectBatchTest, has_all_when_it_is_finished) {
  const auto store = open();
  ObjectBatch batch(*store);
  std::set<ContentId> ids;
  for (int i = 0; i < 300; ++i) {
    const std::string content = std::to_string(i);
    ids.insert(valid(put_file(batch, content, content.size())));
  }
  EXPECT_TRUE(valid(batch.has(ContentId::of("299"), 3))) << "before it is an object, too";
  EXPECT_FALSE(valid(batch.has(ContentId::of("300"), 3)));
  EXPECT_FALSE(batch.finish());
  EXPECT_EQ(ids.size(), 300U);
  for (const ContentId& id : ids) EXPECT_FALSE(store->check(id));
  EXPECT_EQ(temps(), 0U);
}

TEST_F(ObjectBatchTest, waits_for_each_of_many_contents_and_for_their_folders) {
  const auto store = open();
  ObjectBatch batch(*store);
  std::vector<ContentId> ids;
  for (int i = 0; i < 200; ++i) ids.push_back(valid(batch.put_text(std::to_string(i))));
  const auto inodes = synced_by([&] { EXPECT_FALSE(batch.finish()); });
  for (const ContentId& id : ids) {
    EXPECT_TRUE(inodes.contains(inode_of(path_of(id))));
    EXPECT_TRUE(inodes.contains(inode_of(path_of(id).parent_path())));
  }
  // When the disk fails, no content has its name.
  for (int i = 200; i < 400; ++i) valid(batch.put_text(std::to_string(i)));
  sync_error = EIO;
  EXPECT_EQ(batch.finish()->code, FileError::system);
  sync_error = 0;
  EXPECT_EQ(valid(store->usage()).objects, 200U);
}

TEST_F(ObjectBatchTest, takes_a_content_twice) {
  const auto store = open();
  ObjectBatch batch(*store);
  EXPECT_EQ(valid(put_file(batch, "a", 1)), valid(put_file(batch, "a", 1)));
  EXPECT_FALSE(batch.finish());
  valid(put_file(batch, "a", 1));
  EXPECT_FALSE(batch.finish());
  EXPECT_EQ(valid(store->usage()).objects, 1U);
  EXPECT_EQ(temps(), 0U);
}

TEST_F(ObjectBatchTest, stays_failed_when_its_contents_could_not_be_kept) {
  const auto store = open();
  ObjectBatch batch(*store);
  const ContentId first = valid(put_file(batch, "a", 1));
  for (const fs::path& file : temp_files()) fs::remove(file);
  EXPECT_TRUE(batch.finish());
  EXPECT_FALSE(put_file(batch, "b", 1));
  EXPECT_FALSE(batch.has(first, 1));
  EXPECT_TRUE(batch.finish()) << "nothing waits, and the first is not kept";
}

TEST_F(ObjectBatchTest, ends_a_scan_of_outputs_when_the_disk_fails) {
  for (int i = 0; i < 300; ++i) beside_.file("from/" + std::to_string(i), std::to_string(i));
  const auto store = open();
  const auto top = valid(open_folder(beside_ / "from"));
  ScanOptions options;
  options.outputs = {valid(PathPattern::compile("*"))};
  for (const int error : {EIO, EROFS, ENOSPC}) {
    ObjectBatch batch(*store);
    std::uint64_t files = 0;
    options.progress = [&](const ScanCount& count) {
      files = count.files;
      return true;
    };
    sync_error = error;
    const auto found = scan_folder(top.get(), batch, options);
    sync_error = 0;
    ASSERT_FALSE(found) << error;
    EXPECT_EQ(found.error().code, system_failure("", "", error).code);
    EXPECT_EQ(files, 255U) << "the next one had the batch wait for the disk";
    EXPECT_TRUE(batch.finish()) << "it stays failed";
  }
  EXPECT_EQ(valid(store->usage()).objects, 0U);
  EXPECT_EQ(temps(), 0U);
}

TEST_F(ObjectBatchTest, has_no_object_of_another_size) {
  beside_.file("from/a", "text");
  const auto store = open();
  const fs::path file = beside_ / "memory";
  const auto begun = std::chrono::system_clock::time_point::max() - std::chrono::hours{24};
  for (const bool again : {false, true}) {
    ObjectBatch batch(*store);
    ScanMemory memory = ScanMemory::read(file, begun);
    ScanOptions options;
    options.memory = &memory;
    const auto top = valid(open_folder(beside_ / "from"));
    EXPECT_EQ(valid(scan_folder(top.get(), batch, options)).count.files_read, 1U);
    EXPECT_FALSE(memory.write(file));
    EXPECT_FALSE(store->check(ContentId::of("text")));
    if (!again) fs::resize_file(path_of(ContentId::of("text")), 2);
  }
}

TEST_F(ObjectBatchTest, refuses_a_file_of_another_size) {
  const auto store = open();
  ObjectBatch batch(*store);
  EXPECT_EQ(put_file(batch, "abc", 2).error().code, FileError::changed);
  EXPECT_EQ(put_file(batch, "abc", 4).error().code, FileError::changed);
  EXPECT_EQ(temps(), 0U);
}

}  // namespace
}  // namespace muster::files
