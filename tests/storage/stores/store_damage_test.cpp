// Stores of which something was taken away: each is whole, or refused with the file named, or has
// lost no more than the mark itself was said to have lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "model/rng.hpp"
#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_mark.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using test::batch_of;
using test::IsGolden;
using test::TempStore;
using testing::AllOf;
using testing::HasSubstr;

std::string noise(Rng& dice, std::size_t bytes) {
  std::string made(bytes, '\0');
  for (char& byte : made) byte = static_cast<char>(dice.next());
  return made;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void overwrite(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

void copy_into(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive);
}

/// The files of the folder, and how long they are.
std::map<std::string, std::uintmax_t> listing(const fs::path& folder) {
  std::map<std::string, std::uintmax_t> files;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename().string()] = entry.file_size(gone);
  }
  return files;
}

/// What a crash would leave now of a store that is open: RocksDB works in the background.
void snapshot(const fs::path& from, const fs::path& to) {
  for (auto before = listing(from);; before = listing(from)) {
    fs::remove_all(to);
    fs::create_directory(to);
    std::error_code gone;
    for (const auto& [name, size] : before) fs::copy_file(from / name, to / name, gone);
    if (before == listing(from) && before == listing(to)) return;
  }
}

StoreOptions small_logs(const TempStore& folder) {
  StoreOptions options = folder.options("site s0");
  options.log_bytes = std::size_t{64} << 10;
  return options;
}

/// A store as a crash leaves it, and all that was durable then.
struct Template {
  fs::path folder;
  fs::path old_mark;  ///< as it was some batches before
  std::uint64_t durable_then = 0;
  std::map<std::uint64_t, std::string> durable;  ///< values of tokens, by their number
};

/// Writes batches of many sizes over some openings; the newest logs are what a crash leaves.
Template written(std::uint64_t seed, const TempStore& scratch, const fs::path& place) {
  Rng dice(seed);
  Template made;
  made.folder = place / ("t" + std::to_string(seed));
  made.old_mark = place / ("m" + std::to_string(seed));
  std::uint64_t next = 0;
  const std::uint64_t openings = 1 + dice.below(3);
  const std::size_t largest = std::size_t{1} << (6 + dice.below(9));
  for (std::uint64_t opening = 0; opening < openings; ++opening) {
    const auto store = test::opened<Store>(scratch.path(), small_logs(scratch));
    const std::uint64_t batches = 2 + dice.below(30);
    for (std::uint64_t i = 0; i < batches; ++i) {
      if (i + 2 == batches) {
        fs::copy_file(scratch.path() / kMarkFile, made.old_mark,
                      fs::copy_options::overwrite_existing);
        made.durable_then = next;
      }
      const std::string value = noise(dice, 1 + dice.below(largest));
      StoreBatch batch = batch_of(Family::token, key_of(next), value);
      batch.put(Family::ended, key_of(next % 3), value.substr(0, 20));
      batch.reaches({0, next + 1});
      EXPECT_FALSE(store->write(batch, Durability::machine));
      made.durable[next++] = value;
      if (dice.below(4) == 0) {
        EXPECT_FALSE(store->write(batch_of(Family::cancel, "c", value), Durability::process));
      }
    }
    if (opening + 1 == openings) snapshot(scratch.path(), made.folder);
  }
  return made;
}

/// Flips a bit, cuts the file, or takes it away; what was done.
std::string damage(const fs::path& file, Rng& dice) {
  std::string text = text_of(file);
  const std::uint64_t how = text.empty() ? 2 : dice.below(5);
  if (how < 2) {
    const std::size_t at = dice.below(text.size());
    text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
    overwrite(file, text);
    return "byte " + std::to_string(at) + " flipped";
  }
  if (how < 4 && !text.empty()) {
    const std::size_t left = dice.below(text.size());
    overwrite(file, text.substr(0, left));
    return "cut to " + std::to_string(left);
  }
  fs::remove(file);
  return "deleted";
}

/// What of the first so many durable values is not there; empty: nothing.
std::string missing_of(const Store& store, const Template& made, std::uint64_t first) {
  std::map<std::uint64_t, std::string> found;
  const auto use = [&](std::string_view key, std::string_view value) {
    found[*number_of(key)] = value;
    return true;
  };
  if (const auto trouble = store.scan(Family::token, {}, use)) return trouble->message;
  for (const Family family : {Family::ended, Family::cancel}) {
    const auto look = [](std::string_view, std::string_view) { return true; };
    if (const auto trouble = store.scan(family, {}, look)) return trouble->message;
  }
  for (const auto& [number, value] : made.durable) {
    if (number < first && (!found.contains(number) || found[number] != value)) {
      return "LOST: batch " + std::to_string(number);
    }
  }
  return {};
}

/// What the store that is opened lacks, or why it is not opened; empty: it is whole.
std::string fault_of(const fs::path& folder, const Template& made, std::uint64_t first,
                     bool read_only, const TempStore& scratch) {
  StoreOptions options = small_logs(scratch);
  options.read_only = read_only;
  options.may_make = false;
  const auto store = Store::open(folder, options);
  return store ? missing_of(*store.value(), made, first) : store.error().message;
}

class StoreDamage : public testing::Test {
 protected:
  static constexpr std::uint64_t kTemplates = 10;

  StoreDamage() {
    for (std::uint64_t seed = 0; seed < kTemplates; ++seed) {
      const TempStore scratch;
      templates_.push_back(written(seed, scratch, place_.folder()));
    }
  }

  test::TempFile place_{"beside", ""};
  TempStore scratch_;
  fs::path folder_ = place_.folder() / "damaged";
  std::vector<Template> templates_;
};

TEST_F(StoreDamage, of_one_file_is_harmless_or_refused_with_the_file_named) {
  std::uint64_t whole = 0;
  std::map<std::string, std::uint64_t> refused;  // by the kind of the file
  for (std::uint64_t round = 0; round < 500; ++round) {
    Rng dice(round);
    const Template& made = templates_[round % kTemplates];
    copy_into(made.folder, folder_);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    const fs::path file = files[dice.below(files.size())];
    const std::string name = file.filename().string();
    const std::string what = damage(file, dice);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + name + " " + what);

    const std::string said = fault_of(folder_, made, made.durable.size(), true, scratch_);
    // Opening it for writing looks at it in the same way first.
    if (said.empty() || round % 8 == 0) {
      const std::string again = fault_of(folder_, made, made.durable.size(), false, scratch_);
      EXPECT_EQ(said, again);
    }
    if (said.empty()) {
      ++whole;
      continue;
    }
    EXPECT_THAT(said, AllOf(HasSubstr(folder_.string()), HasSubstr(name)));
    ++refused[name.substr(0, name.find_first_of("-0123456789")).append(file.extension().string())];
  }
  EXPECT_GT(whole, 50u);
  for (const char* kind : {".log", ".sst", "CURRENT", "MANIFEST", "MARK"}) {
    EXPECT_GT(refused[kind], 0u) << kind;
  }
}

TEST_F(StoreDamage, of_a_log_is_not_taken_for_that_of_a_table_that_a_crash_left_unfinished) {
  int refused = 0;
  for (std::uint64_t round = 0; round < 30; ++round) {
    const Template& made = templates_[round % kTemplates];
    copy_into(made.folder, folder_);
    fs::path log;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".log" && entry.path() > log) log = entry.path();
    }
    overwrite(folder_ / "999999.sst", "the beginning of a table");
    std::string text = text_of(log);
    if (text.empty()) continue;
    text[Rng(round).below(text.size())] ^= 1;
    overwrite(log, text);
    const std::string said = fault_of(folder_, made, made.durable.size(), true, scratch_);
    if (said.empty()) continue;
    ++refused;
    EXPECT_THAT(said, HasSubstr(log.filename().string())) << "round " << round;
  }
  EXPECT_GT(refused, 5);
}

TEST_F(StoreDamage, behind_a_mark_that_a_power_cut_set_back_loses_nothing_of_before_that_mark) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    Rng dice(round);
    const Template& made = templates_[round % kTemplates];
    copy_into(made.folder, folder_);
    fs::copy_file(made.old_mark, folder_ / kMarkFile, fs::copy_options::overwrite_existing);
    fs::path log;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".log" && entry.path() > log) log = entry.path();
    }
    const std::string what = damage(log, dice);
    const std::string said = fault_of(folder_, made, made.durable_then, false, scratch_);
    if (said.empty()) continue;
    EXPECT_THAT(said, AllOf(HasSubstr(folder_.string()), HasSubstr(log.filename().string())))
        << "round " << round << ": " << what;
  }
}

TEST_F(StoreDamage, a_refused_store_is_left_as_it_was) {
  const Template& made = templates_.front();
  copy_into(made.folder, folder_);
  fs::path log;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() == ".log" && entry.path() > log) log = entry.path();
  }
  const std::string text = text_of(log);
  overwrite(log, text.substr(0, text.size() / 2));
  std::string said;
  for (int i = 0; i < 3; ++i) {
    said = fault_of(folder_, made, made.durable.size(), false, scratch_);
    EXPECT_THAT(said, AllOf(HasSubstr(log.string()), HasSubstr("muster store restore"),
                            HasSubstr("--new-store"), IsGolden()));
  }
  overwrite(log, text);
  EXPECT_EQ(fault_of(folder_, made, made.durable.size(), false, scratch_), "");
}

TEST_F(StoreDamage, a_log_that_is_gone_or_a_mark_or_CURRENT_is_missed_by_name) {
  const Template& made = templates_.front();
  for (const std::string name : {"CURRENT", "MARK", "log"}) {
    copy_into(made.folder, folder_);
    fs::path file = folder_ / name;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (name == "log" && entry.path().extension() == ".log") file = entry.path();
    }
    fs::remove(file);
    EXPECT_THAT(fault_of(folder_, made, made.durable.size(), false, scratch_),
                AllOf(HasSubstr(file.string()), HasSubstr("is missing")));
  }
}

/// A store after each of two batches that were durable, as a crash would leave it.
class TornRecord : public testing::Test {
 protected:
  TornRecord() {
    const auto store = test::opened<Store>(scratch_.path(), scratch_.options("site s0"));
    for (std::uint64_t i = 0; i < 2; ++i) {
      const std::string value(200, static_cast<char>('a' + i));
      EXPECT_FALSE(store->write(batch_of(Family::token, key_of(i), value), Durability::machine));
      made_.durable[i] = value;
      snapshot(scratch_.path(), i == 0 ? one_ : two_);
    }
  }

  static fs::path log_of(const fs::path& folder) {
    fs::path log;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".log" && entry.path() > log) log = entry.path();
    }
    return log;
  }
  /// The whole log, with the last record damaged, which the store `folder` may have the mark of.
  void damage_last_record(const fs::path& folder) {
    std::string text = text_of(log_of(two_));
    text[text.size() - 5] ^= 1;
    overwrite(log_of(folder), text);
  }
  static void cut_a_byte(const fs::path& folder) {
    fs::resize_file(log_of(folder), fs::file_size(log_of(folder)) - 1);
  }
  std::string fault(const fs::path& folder, std::uint64_t batches) {
    return fault_of(folder, made_, batches, false, scratch_);
  }

  test::TempFile place_{"beside", ""};
  TempStore scratch_;
  Template made_;
  fs::path one_ = place_.folder() / "one";  ///< its mark says that the first batch is durable
  fs::path two_ = place_.folder() / "two";
};

TEST_F(TornRecord, behind_the_mark_with_a_wrong_checksum_is_refused_until_it_is_cut) {
  damage_last_record(one_);
  EXPECT_THAT(fault(one_, 1),
              AllOf(HasSubstr(log_of(one_).filename().string()), HasSubstr("checksum mismatch")));
  cut_a_byte(one_);
  EXPECT_EQ(fault(one_, 1), "") << "the record is incomplete now, and was never durable";
}

TEST_F(TornRecord, before_the_mark_is_refused_cut_or_not) {
  damage_last_record(two_);
  EXPECT_THAT(fault(two_, 2), HasSubstr("checksum mismatch"));
  cut_a_byte(two_);
  EXPECT_THAT(fault(two_, 2), AllOf(HasSubstr(log_of(two_).filename().string()), IsGolden()));
}

TEST(StoreMaking, happens_only_where_it_is_allowed_and_nothing_is) {
  const TempStore folder;
  StoreOptions options = folder.options();
  options.may_make = false;
  const auto refused = Store::open(folder.path(), options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(folder.path().string()), HasSubstr("--new-store")));
  EXPECT_FALSE(fs::exists(folder.path()));
  folder.open().reset();
  EXPECT_TRUE(Store::open(folder.path(), options));
  fs::remove(folder.path() / "CURRENT");
  EXPECT_THAT(Store::open(folder.path(), folder.options()).error().message,
              HasSubstr("CURRENT is missing"))
      << "nor where something is, even when it is allowed";
}

TEST(StoreMaking, begins_again_after_a_crash_in_it_without_being_allowed_again) {
  const TempStore folder;
  StoreOptions options = folder.options();
  options.fill = [](Store& made) -> StoreTrouble {
    if (auto trouble = made.write(batch_of(Family::object, "a", "half"), Durability::machine)) {
      return trouble;
    }
    return Failure<StoreError>{StoreError::unwritable, "the power is cut"};
  };
  EXPECT_THAT(Store::open(folder.path(), options).error().message, HasSubstr("power"));
  StoreOptions reading = options;
  reading.read_only = true;
  const auto unmade = Store::open(folder.path(), reading).error();
  EXPECT_EQ(unmade.code, StoreError::unreadable);
  EXPECT_THAT(unmade.message, IsGolden());
  options.fill = {};
  options.may_make = false;
  const auto store = Store::open(folder.path(), options);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_FALSE(store.value()->get(Family::object, "a").value().has_value());
}

TEST(StoreMark, says_the_numbers_that_a_site_had_given_out) {
  const TempStore folder;
  {
    const auto store = test::opened<Store>(folder.path(), folder.options("site s0"));
    const auto book = test::opened<RocksSiteStore>(*store);
    book->persist({{}, {{"t", JobId{41}, "ann"}}, 42}, [](const std::string&) {});
  }
  {
    const auto store = test::opened<Store>(folder.path(), folder.options("site s0"));
    EXPECT_EQ(store->reached().jobs, 42u);
    StoreBatch batch;
    batch.erase(Family::meta, kNextJob);
    ASSERT_FALSE(store->write(batch, Durability::machine));
  }
  const auto store = test::opened<Store>(folder.path(), folder.options("site s0"));
  const auto book = RocksSiteStore::open(*store);
  ASSERT_FALSE(book);
  EXPECT_THAT(book.error().message, HasSubstr("jobs up to 41"));
}

}  // namespace
}  // namespace muster
