#include "serve/api/audit_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "tests/support/temp_file.hpp"

namespace muster::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::SizeIs;
namespace fs = std::filesystem;

class Audit : public testing::Test {
 protected:
  std::unique_ptr<AuditLog> open() {
    AuditOptions options;
    options.file = file();
    options.max_bytes = max_bytes_;
    options.max_files = 3;
    auto log = AuditLog::open(std::move(options));
    EXPECT_TRUE(log.has_value()) << (log ? "" : log.error().message);
    return std::move(log).value();
  }
  fs::path file() const { return folder_.folder() / "audit.log"; }

  static AuditEntry entry(std::int64_t at_s, const std::string& about) {
    AuditEntry made;
    made.at_s = at_s;
    made.token = "laptop";
    made.user = at_s % 2 == 0 ? "ann" : "ben";
    made.address = "10.0.0.9";
    made.method = "POST";
    made.path = "/v1/jobs/3/cancel";
    made.status = 200;
    made.about = about;
    return made;
  }
  static std::vector<json> read(AuditLog& log, const AuditQuestion& question = {}) {
    std::promise<std::vector<std::string>> lines;
    log.read(question, [&](std::vector<std::string> found) { lines.set_value(std::move(found)); });
    std::vector<json> documents;
    for (const std::string& line : lines.get_future().get()) documents.push_back(json::parse(line));
    return documents;
  }
  static std::vector<std::string> abouts(const std::vector<json>& entries) {
    std::vector<std::string> all;
    for (const json& each : entries) all.push_back(each["about"]);
    return all;
  }

  const test::TempFile folder_{"unused", ""};
  std::uint64_t max_bytes_ = 1 << 20;
};

TEST_F(Audit, tells_what_was_written_down_the_newest_first) {
  const auto log = open();
  for (int i = 1; i <= 4; ++i) log->add(entry(i, "job " + std::to_string(i)));
  EXPECT_THAT(abouts(read(*log)), ElementsAre("job 4", "job 3", "job 2", "job 1"));
  const json first = read(*log).front();
  EXPECT_EQ(first["token"], "laptop");
  EXPECT_EQ(first["user"], "ann");
  EXPECT_EQ(first["address"], "10.0.0.9");
  EXPECT_EQ(first["method"], "POST");
  EXPECT_EQ(first["path"], "/v1/jobs/3/cancel");
  EXPECT_EQ(first["status"], 200);
  EXPECT_EQ(first["at_s"], 4);
}

TEST_F(Audit, tells_of_one_user_or_of_the_last_while) {
  const auto log = open();
  for (int i = 1; i <= 6; ++i) log->add(entry(i, std::to_string(i)));
  EXPECT_THAT(abouts(read(*log, {100, "ben"})), ElementsAre("5", "3", "1"));
  EXPECT_THAT(abouts(read(*log, {2})), ElementsAre("6", "5"));
  EXPECT_THAT(abouts(read(*log, {100, "", 5})), ElementsAre("6", "5"));
}

TEST_F(Audit, is_still_there_after_a_restart_and_after_a_line_that_was_cut_off) {
  open()->add(entry(1, "one"));
  std::ofstream(file(), std::ios::app) << R"({"at_s": 2, "tok)";
  const auto log = open();
  log->add(entry(3, "three"));
  EXPECT_THAT(abouts(read(*log)), ElementsAre("three", "one"));
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(Audit, keeps_so_many_files_of_so_many_bytes) {
  max_bytes_ = 1000;
  const auto log = open();
  for (int i = 0; i < 100; ++i) log->add(entry(i, std::to_string(i)));
  const auto kept = abouts(read(*log));
  EXPECT_EQ(kept.front(), "99");
  EXPECT_LT(kept.size(), 20U);
  EXPECT_GT(kept.size(), 8U);
  std::size_t files = 0;
  for (const auto& each : fs::directory_iterator(folder_.folder())) {
    if (!each.path().filename().string().starts_with("audit.log")) continue;
    if (each.path().extension() == ".lost") continue;  // a number, and no part of the log
    ++files;
    EXPECT_LE(fs::file_size(each.path()), max_bytes_);
  }
  EXPECT_EQ(files, 3U);
}

TEST_F(Audit, counts_refusals_that_come_too_fast_instead_of_writing_them_down) {
  const auto log = open();
  const auto wanted = AuditLog::kMaxRefusals;
  for (std::uint64_t i = 0; i < wanted + 30; ++i) log->add_refused(entry(100, "refused"));
  EXPECT_THAT(read(*log, {1000}), SizeIs(wanted));
  log->add_refused(entry(100 + AuditLog::kRefusalWindowS, "later"));
  const auto all = read(*log, {1000});
  EXPECT_THAT(all, SizeIs(wanted + 1));
  EXPECT_EQ(all.front()["unlisted"], 30);
  EXPECT_EQ(all.back()["unlisted"], 0);
}

/// While it lives no file grows beyond so many bytes: what a full disk does to a write.
class SmallDisk {
 public:
  explicit SmallDisk(std::uint64_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  void (*before_)(int);
  rlimit limit_{};
};

TEST_F(Audit, shows_what_a_full_disk_has_taken_and_loses_nothing_after_it) {
  auto log = open();
  log->add(entry(1, "one"));
  EXPECT_THAT(read(*log), SizeIs(1));
  {
    const SmallDisk full(fs::file_size(file()) + 40);
    log->add(entry(2, "cut off"));
    log->add(entry(3, "not begun"));
    const auto found = read(*log, {100, "ben"});
    ASSERT_THAT(found, SizeIs(2)) << "also for who asks for one user's";
    EXPECT_EQ(found[0]["lost"], 2);
    EXPECT_EQ(found[1]["about"], "one");
    // The node ends meanwhile, and its log is opened on the full disk.
    log.reset();
    log = open();
    EXPECT_EQ(read(*log).front()["lost"], 2);
    log->add(entry(4, "not begun"));
    EXPECT_EQ(read(*log).front()["lost"], 3);
  }
  log->add(entry(6, "six"));
  log->add(entry(7, "seven"));
  const auto found = read(*log);
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(found[0]["about"], "seven");
  EXPECT_EQ(found[1]["about"], "six");
  EXPECT_EQ(found[2]["lost"], 3);
  EXPECT_EQ(found[2]["at_s"], 6);
  EXPECT_TRUE(found[2]["status"].is_null());
  EXPECT_EQ(found[3]["about"], "one");
  EXPECT_THAT(read(*open()), SizeIs(4)) << "and says it once";
}

TEST_F(Audit, finds_what_is_new_behind_what_a_clock_that_was_set_back_made_old) {
  max_bytes_ = 400;  // two entries a file
  const auto log = open();
  const std::vector<std::int64_t> times{2000, 2001, 500, 2002, 501, 2003};
  for (const std::int64_t at_s : times) log->add(entry(at_s, std::to_string(at_s)));
  EXPECT_THAT(abouts(read(*log, {100, "", 1900})), ElementsAre("2003", "2002", "2001", "2000"));
}

TEST_F(Audit, says_why_it_cannot_be_kept) {
  AuditOptions options;
  options.file = "/nowhere/audit.log";
  const auto log = AuditLog::open(std::move(options));
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error().message, testing::HasSubstr("/nowhere/audit.log: No such file"));
}

TEST_F(Audit, takes_bytes_that_are_no_text) {
  const auto log = open();
  AuditEntry odd = entry(1, "x");
  odd.path = "/\xff\n\"";
  log->add(odd);
  EXPECT_EQ(read(*log).front()["path"], "/\xEF\xBF\xBD\n\"");
}

}  // namespace
}  // namespace muster::api
