#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "serve/machines/process_machines.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using machines::find_process;
using machines::read_text;
using std::chrono::milliseconds;
using test::IsGolden;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration kGrace = milliseconds{300};
constexpr Duration kNoGrace{};

/// Waits for what other processes do; the test fails when it takes for ever.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return false;
}

bool runs(pid_t pid) {
  return find_process(pid).has_value();
}

/// Real workers that are small shell scripts: run in the machine's folder, they add their number to
/// the file `pids`.
class MachinesTest : public ::testing::Test {
 protected:
  ~MachinesTest() override {
    if (!host_) return;
    host_->keep_only({});
    EXPECT_TRUE(comes_true([this] { return host_->count() == 0; }));
  }

  void open(const std::string& script) {
    script_ = script;
    ASSERT_TRUE(try_open());
  }
  bool try_open() {
    MachineOptions options;
    options.dir = dir();
    options.command = {"/bin/sh", "-c", "echo $$ >> pids\n" + script_, "worker-{instance}"};
    options.rules.restart_min = milliseconds{50};
    options.stray_grace = kNoGrace;
    options.prepare = prepare_;
    options.memory_reserve_bytes = memory_reserve_bytes_;
    options.free_memory_bytes = [this] { return free_memory_bytes_; };
    auto host = ProcessMachines::open(std::move(options));
    if (!host) {
      why_not_ = host.error().message;
      return false;
    }
    host_ = std::move(host).value();
    host_->watch([this](const MachineEvent& news) {
      const std::lock_guard guard(mutex_);
      news_.push_back(news.text);
    });
    return true;
  }
  fs::path dir() const { return place_.folder() / "machines"; }
  fs::path folder(std::uint64_t id) const { return dir() / ("instance-" + std::to_string(id)); }

  static MachineOrder order(std::uint64_t id) {
    MachineOrder order;
    order.instance = InstanceId{id};
    order.type.name = "small";
    order.type.capacity = Resources::of(0, 2.5, 8);
    return order;
  }
  void boot(std::uint64_t id) {
    const auto machine = host_->boot(order(id));
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine.value(), "instance-" + std::to_string(id));
  }
  /// Every number that the machine's script has written to the file.
  std::vector<pid_t> pids(std::uint64_t id, const char* file = "pids") const {
    std::ifstream in(folder(id) / file);
    std::vector<pid_t> all;
    for (pid_t pid = 0; in >> pid;) all.push_back(pid);
    return all;
  }
  pid_t nth_pid(std::uint64_t id, std::size_t nth, const char* file = "pids") const {
    EXPECT_TRUE(comes_true([&] { return pids(id, file).size() >= nth; })) << file;
    return pids(id, file).at(nth - 1);
  }
  /// Halts and waits until it is said that nothing runs.
  void halt(std::uint64_t id, Duration grace) {
    std::atomic<int> times{0};
    if (host_->halt(InstanceId{id}, "", grace, [&times] { ++times; })) return;
    EXPECT_TRUE(comes_true([&] { return times == 1; }));
    EXPECT_TRUE(comes_true([&] { return !fs::exists(folder(id)); }));
  }
  std::vector<std::string> news() {
    const std::lock_guard guard(mutex_);
    return news_;
  }

  test::TempFile place_{"unused", ""};
  std::string script_, why_not_;
  std::uint64_t memory_reserve_bytes_ = 0, free_memory_bytes_ = 0;
  std::function<std::string(const MachineOrder&, const fs::path&)> prepare_;
  std::mutex mutex_;
  std::vector<std::string> news_;
  std::unique_ptr<ProcessMachines> host_;
};

constexpr const char* kIdle = "exec sleep 1000";

TEST_F(MachinesTest, AWorkerRunsUntilItsMachineIsHalted) {
  open(kIdle);
  boot(3);
  const pid_t worker = nth_pid(3, 1);
  EXPECT_TRUE(runs(worker));
  halt(3, kGrace);
  EXPECT_FALSE(runs(worker));
  EXPECT_TRUE(comes_true([this] { return host_->halt(InstanceId{3}, "", kGrace, [] {}); }))
      << "nothing is left to halt";
}

TEST_F(MachinesTest, AWorkerHasItsOwnSessionItsLockAndNoOtherDescriptors) {
  open("ls -l /proc/self/fd > fds; cut -d' ' -f6 /proc/$$/stat > session; " + std::string(kIdle));
  boot(0);
  const pid_t worker = nth_pid(0, 1);
  EXPECT_EQ(nth_pid(0, 1, "session"), worker);
  ASSERT_TRUE(
      comes_true([&] { return read_text(folder(0) / "fds").find(" 3 -> ") != std::string::npos; }));
  const std::string fds = read_text(folder(0) / "fds");
  EXPECT_THAT(fds, HasSubstr(" 0 -> /dev/null"));
  EXPECT_THAT(fds, HasSubstr(" 3 -> " + (folder(0) / "lock").string()));
  // The folder that ls itself reads is its fourth.
  EXPECT_THAT(fds, ::testing::Not(HasSubstr(" 5 -> ")));
}

TEST_F(MachinesTest, AWorkerIsToldWhatItsMachineIs) {
  MachineOrder asked = order(7);
  asked.market = Market::spot;
  EXPECT_EQ(fill_in("{instance}/{type}/{market}/{cpu}/{memory}/{gpu} in {dir}", asked, "/d"),
            "7/small/spot/2.5/8/0 in /d");
  open("echo $0 > name; " + std::string(kIdle));
  boot(7);
  EXPECT_TRUE(comes_true([&] { return read_text(folder(7) / "name") == "worker-7\n"; }));
}

TEST_F(MachinesTest, BootingTwiceStartsOneWorker) {
  open(kIdle);
  boot(1);
  boot(1);
  nth_pid(1, 1);
  boot(1);
  halt(1, kGrace);
  boot(2);
  nth_pid(2, 1);
  EXPECT_EQ(pids(2).size(), 1u);
}

TEST_F(MachinesTest, AWorkerThatIsKilledIsStartedAgain) {
  open(kIdle);
  boot(1);
  const pid_t first = nth_pid(1, 1);
  kill(first, SIGKILL);
  const pid_t second = nth_pid(1, 2);
  EXPECT_NE(first, second);
  EXPECT_TRUE(comes_true([&] { return news().size() == 2; }));
  EXPECT_THAT(news(), ElementsAre(AllOf(HasSubstr("signal 9"), IsGolden()), IsGolden()));
}

TEST_F(MachinesTest, AWorkerThatCannotRunIsTriedLessAndLessOften) {
  open("exit 3");
  boot(1);
  nth_pid(1, 4);  // after 50, 100 and 200 ms
  ASSERT_FALSE(news().empty());
  EXPECT_THAT(news().front(), AllOf(HasSubstr("code 3"), IsGolden()));
  halt(1, kGrace);
}

TEST_F(MachinesTest, WhatIgnoresTheRequestToEndIsKilled) {
  open("trap '' TERM; echo x > ready; while :; do sleep 0.05; done");
  boot(1);
  const pid_t worker = nth_pid(1, 1);
  ASSERT_TRUE(comes_true([&] { return fs::exists(folder(1) / "ready"); }));
  halt(1, milliseconds{100});
  EXPECT_FALSE(runs(worker));
}

/// A shim in a session of its own that holds an attempt's lock and has a child in yet another; both
/// ignore the request to end.
constexpr const char* kStubbornAttempt =
    "mkdir -p state/attempts/5.1\n"
    "setsid sh -c 'exec 9> state/attempts/5.1/lock; flock 9; trap \"\" TERM\n"
    "  echo $$ >> shims\n"
    "  setsid sh -c \"exec 9>&-; echo \\$\\$ >> tasks; while :; do sleep 0.05; done\" &\n"
    "  while :; do sleep 0.05; done' 3>&- &\n"
    "exec sleep 1000";

TEST_F(MachinesTest, HaltingEndsWhatAttemptsHaveStarted) {
  open(kStubbornAttempt);
  boot(1);
  const pid_t shim = nth_pid(1, 1, "shims");
  const pid_t task = nth_pid(1, 1, "tasks");
  const pid_t bystander = fork();
  if (bystander == 0) {
    execl("/bin/sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  halt(1, milliseconds{100});
  EXPECT_FALSE(runs(shim));
  EXPECT_FALSE(runs(task));
  EXPECT_TRUE(runs(bystander)) << "what is not of the machine stays";
  kill(bystander, SIGKILL);
  waitpid(bystander, nullptr, 0);
}

TEST_F(MachinesTest, AttemptsOutliveTheirWorker) {
  open("[ -e shims ] && exec sleep 1000\n" + std::string(kStubbornAttempt));
  boot(1);
  const pid_t shim = nth_pid(1, 1, "shims");
  kill(nth_pid(1, 1), SIGKILL);
  nth_pid(1, 2);
  EXPECT_TRUE(runs(shim));
  halt(1, kNoGrace);
  EXPECT_FALSE(runs(shim));
}

TEST_F(MachinesTest, AHeirOfTheLockDoesNotKeepAWorkerFromBeingStartedAgain) {
  open("setsid sleep 1000 & echo $! >> heirs; exec sleep 1000");
  boot(1);
  nth_pid(1, 1, "heirs");
  kill(nth_pid(1, 1), SIGKILL);
  nth_pid(1, 2);
  const std::vector<pid_t> heirs = {nth_pid(1, 1, "heirs"), nth_pid(1, 2, "heirs")};
  halt(1, kGrace);
  for (const pid_t heir : heirs) EXPECT_FALSE(runs(heir));
}

TEST_F(MachinesTest, TheNextConnectorTakesMachinesOver) {
  open(kIdle);
  boot(1);
  boot(2);
  const pid_t one = nth_pid(1, 1);
  const pid_t two = nth_pid(2, 1);
  EXPECT_FALSE(try_open());
  EXPECT_THAT(why_not_, HasSubstr("another cloud connector"));
  host_.reset();
  EXPECT_TRUE(runs(one));
  kill(two, SIGKILL);
  waitpid(two, nullptr, 0);
  ASSERT_TRUE(try_open());
  RentedRecord record;
  record.instance = InstanceId{1};
  EXPECT_TRUE(host_->adopt(record));
  record.instance = InstanceId{2};
  EXPECT_TRUE(host_->adopt(record));
  record.instance = InstanceId{9};
  EXPECT_FALSE(host_->adopt(record)) << "there is no such machine";
  nth_pid(2, 2);  // its worker had died in the meantime
  EXPECT_EQ(pids(1).size(), 1u);
  kill(one, SIGKILL);
  nth_pid(1, 2);
  halt(1, kGrace);
}

TEST_F(MachinesTest, AnotherProcessesWorkersAreTakenOverToo) {
  // The connector is a process that is killed without warning.
  script_ = kIdle;
  const pid_t connector = fork();
  if (connector == 0) {
    const bool booted = try_open() && host_->boot(order(1)).has_value();
    while (booted) pause();
    _exit(1);
  }
  const pid_t worker = nth_pid(1, 1);
  kill(connector, SIGKILL);
  waitpid(connector, nullptr, 0);
  ASSERT_TRUE(comes_true([&] { return try_open(); }));
  RentedRecord record;
  record.instance = InstanceId{1};
  EXPECT_TRUE(host_->adopt(record));
  kill(worker, SIGKILL);
  EXPECT_NE(nth_pid(1, 2), worker);
  halt(1, kGrace);
}

TEST_F(MachinesTest, ThereIsRoomWhileWorkersLeaveEnoughMemory) {
  constexpr std::uint64_t kMiB = 1 << 20;
  memory_reserve_bytes_ = 100 * kMiB;
  open(kIdle);
  free_memory_bytes_ = 132 * kMiB;
  EXPECT_TRUE(host_->has_room(0));
  EXPECT_FALSE(host_->has_room(1)) << "one that is ordered and not booted will take memory too";
  boot(1);
  nth_pid(1, 1);
  EXPECT_TRUE(host_->has_room(1)) << "what it takes is not free any more";
  free_memory_bytes_ = 131 * kMiB;
  EXPECT_FALSE(host_->has_room(1));
  memory_reserve_bytes_ = 0;
  host_.reset();
  ASSERT_TRUE(try_open());
  free_memory_bytes_ = 0;
  EXPECT_TRUE(host_->has_room(1)) << "without a reserve nobody looks";
}

TEST_F(MachinesTest, TheNextConnectorIsToldWhenAllMachinesWereEnded) {
  open(kIdle);
  EXPECT_EQ(host_->all_ended_at(), std::nullopt);
  boot(1);
  boot(2);
  EXPECT_EQ(host_->left(), (std::vector{InstanceId{1}, InstanceId{2}}));
  const Instant when{milliseconds{1'234'567}};
  EXPECT_EQ(host_->end_all(when), "");
  EXPECT_TRUE(comes_true([this] { return host_->count() == 0; }));
  EXPECT_TRUE(host_->left().empty());
  host_.reset();
  ASSERT_TRUE(try_open());
  EXPECT_EQ(host_->all_ended_at(), when);
}

TEST_F(MachinesTest, MachinesThatNobodyRentsEnd) {
  open(kIdle);
  boot(1);
  boot(2);
  const pid_t one = nth_pid(1, 1);
  const pid_t two = nth_pid(2, 1);
  host_.reset();
  ASSERT_TRUE(try_open());
  host_->keep_only({InstanceId{2}});
  EXPECT_TRUE(comes_true([&] { return !fs::exists(folder(1)); }));
  waitpid(one, nullptr, 0);
  EXPECT_FALSE(runs(one));
  EXPECT_TRUE(runs(two));
}

TEST_F(MachinesTest, TheEndOfTheLogIsKept) {
  open("echo last words >&2; echo x > ready; exec sleep 1000");
  boot(1);
  ASSERT_TRUE(comes_true([&] { return fs::exists(folder(1) / "ready"); }));
  halt(1, kGrace);
  EXPECT_EQ(read_text(dir() / "gone" / "instance-1.log"), "last words\n");
}

TEST_F(MachinesTest, WhatCannotBePreparedIsNotBootedAndIsTriedAgain) {
  bool ready = false;
  const std::string missing = "no certificate for it";
  prepare_ = [&ready, missing](const MachineOrder&, const fs::path& in) -> std::string {
    if (!ready) return missing;
    std::ofstream(in / "certificate") << "here";
    return {};
  };
  open("cat certificate > seen; exec sleep 1000");
  const auto refused = host_->boot(order(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, missing);
  ready = true;
  boot(1);
  EXPECT_TRUE(comes_true([&] { return read_text(folder(1) / "seen") == "here"; }));
  EXPECT_EQ(pids(1).size(), 1u);
}

TEST_F(MachinesTest, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(place_.folder() / "machines") << "a file";
  script_ = kIdle;
  EXPECT_FALSE(try_open());
  EXPECT_THAT(why_not_, HasSubstr((dir() / "lock").string()));
}

TEST(ProcessTable, ReadsWhatTheKernelSaysWhateverTheName) {
  const auto row = machines::row_from(
      "42 (a) b (c) S 7 41 40 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 987654 4096 1");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->pid, 42);
  EXPECT_EQ(row->parent, 7);
  EXPECT_EQ(row->session, 40);
  EXPECT_EQ(row->start, 987654u);
  EXPECT_FALSE(machines::row_from("42 (a) Z 7 41 40 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 9 4 1"));
  EXPECT_FALSE(machines::row_from(""));
  EXPECT_FALSE(machines::row_from("42 (a) S 7"));
}

}  // namespace
}  // namespace muster
