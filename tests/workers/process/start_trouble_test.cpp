#include "workers/process/start_trouble.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "tests/support/golden.hpp"
#include "workers/process/shim/shim_task.hpp"

// The words for each fault; tests/workers/process/process_start_test.cpp makes the faults happen.

namespace muster::process {
namespace {

using test::IsGolden;

StartTrouble trouble(StartStage stage, StartFault fault, int error, const char* place = "") {
  StartTrouble trouble;
  trouble.stage = stage;
  trouble.fault = fault;
  trouble.error = error;
  set_place(trouble, place);
  return trouble;
}

StartTrouble of_program(int error, StartFault fault = StartFault::itself, const char* place = "") {
  return trouble(StartStage::program, fault, error, place);
}

StartTrouble of_folder(int error, StartFault fault = StartFault::itself, const char* place = "") {
  return trouble(StartStage::work_dir, fault, error, place);
}

class StartTroubleTest : public ::testing::Test {
 protected:
  StartTroubleTest() {
    order_.program.argv = {"run"};
    place_.work_dir = "/w";
  }
  std::string words(const StartTrouble& of) { return describe(of, order_, place_); }

  Order order_;
  TaskPlace place_;
};

TEST_F(StartTroubleTest, WhatTheWorkerHasToGiveIsNoFaultOfTheProgram) {
  for (const StartStage stage : {StartStage::process, StartStage::user, StartStage::sight}) {
    EXPECT_EQ(end_kind_of(trouble(stage, StartFault::itself, EPERM), order_),
              EndKind::not_launched);
  }
  EXPECT_EQ(end_kind_of(of_folder(EACCES), order_), EndKind::not_launched);
  order_.program.work_dir = "/named";
  EXPECT_EQ(end_kind_of(of_folder(EACCES), order_), EndKind::not_started) << "the job has named it";
  EXPECT_EQ(end_kind_of(of_program(EACCES), order_), EndKind::not_started);
}

TEST_F(StartTroubleTest, WhatPassesIsTriedAgainElsewhere) {
  order_.program.work_dir = "/named";
  for (const int error :
       {EAGAIN, EINTR, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC, ESTALE, ETXTBSY, ETIMEDOUT}) {
    EXPECT_EQ(end_kind_of(of_program(error), order_), EndKind::not_launched) << error;
    EXPECT_EQ(end_kind_of(of_folder(error), order_), EndKind::not_launched) << error;
  }
  for (const int error : {ENOENT, EACCES, ENOEXEC, E2BIG, ENOTDIR, EPERM, ELOOP}) {
    EXPECT_EQ(end_kind_of(of_program(error), order_), EndKind::not_started) << error;
  }
}

TEST_F(StartTroubleTest, OnlyAProgramThatIsNotThereHasTheCodeOfOne) {
  EXPECT_EQ(exit_code_of(of_program(ENOENT)), 127);
  EXPECT_EQ(exit_code_of(of_program(ENOENT, StartFault::dead_link)), 127);
  EXPECT_EQ(exit_code_of(of_program(ENOENT, StartFault::not_in_path)), 127);
  for (const StartFault fault : {StartFault::interpreter, StartFault::loader, StartFault::nested}) {
    EXPECT_EQ(exit_code_of(of_program(ENOENT, fault)), 126) << "the program itself is there";
  }
  EXPECT_EQ(exit_code_of(of_program(EACCES)), 126);
  EXPECT_EQ(exit_code_of(of_folder(ENOENT)), 126);
}

TEST_F(StartTroubleTest, APlaceThatIsTooLongIsCut) {
  const std::string longer(StartTrouble::kPlaceBytes + 10, 'x');
  const StartTrouble cut = of_program(ENOENT, StartFault::dead_link, longer.c_str());
  EXPECT_EQ(std::strlen(cut.place.data()), StartTrouble::kPlaceBytes - 1);
}

TEST_F(StartTroubleTest, OfEachStageNamesWhatWasToBeDone) {
  order_.worker.user = 1234;
  for (const StartStage stage : {StartStage::process, StartStage::user, StartStage::sight,
                                 StartStage::work_dir, StartStage::program}) {
    EXPECT_THAT(words(trouble(stage, StartFault::itself, EPERM)), IsGolden());
  }
  order_.worker.hidden = {{"/no/such/place", 1, 2}};
  EXPECT_THAT(words(trouble(StartStage::sight, StartFault::itself, ESTALE)), IsGolden());
}

TEST_F(StartTroubleTest, OfAFolderNamesWhatBarsIt) {
  order_.worker.user = 1234;
  order_.user = "ann";
  EXPECT_THAT(words(of_folder(ENOTDIR, StartFault::above, "/a")), IsGolden());
  EXPECT_THAT(words(of_folder(EACCES, StartFault::above, "/a")), IsGolden());
  StartTrouble link = of_folder(EPERM, StartFault::other_link, "/a/b");
  link.detail = 77;
  EXPECT_THAT(words(link), IsGolden());
  EXPECT_THAT(words(of_folder(ENOENT, StartFault::dead_link, "/x")), IsGolden());
  EXPECT_THAT(words(of_folder(EACCES, StartFault::making, "/a/c")), IsGolden());
  EXPECT_THAT(words(of_folder(EACCES)), IsGolden());
  EXPECT_THAT(words(of_folder(ENOENT)), IsGolden());
}

TEST_F(StartTroubleTest, OfAProgramNamesWhatItNeeds) {
  EXPECT_THAT(words(of_program(EACCES, StartFault::above, "/a")), IsGolden());
  EXPECT_THAT(words(of_program(ENOTDIR, StartFault::above, "/a")), IsGolden());
  EXPECT_THAT(words(of_program(ENOENT, StartFault::interpreter, "/bin/x\r")), IsGolden());
  EXPECT_THAT(words(of_program(ENOENT, StartFault::interpreter, "/bin/x")), IsGolden());
  EXPECT_THAT(words(of_program(ENOENT, StartFault::interpreter, "")), IsGolden());
  EXPECT_THAT(words(of_program(EACCES, StartFault::interpreter, "/bin/x")), IsGolden());
  EXPECT_THAT(words(of_program(ELOOP, StartFault::nested, "/bin/x")), IsGolden());
  EXPECT_THAT(words(of_program(ENOENT, StartFault::loader, "/lib/ld")), IsGolden());
  EXPECT_THAT(words(of_program(EACCES, StartFault::loader, "/lib/ld")), IsGolden());
  EXPECT_THAT(words(of_program(EACCES, StartFault::no_file)), IsGolden());
  StartTrouble mode = of_program(EACCES, StartFault::no_right);
  mode.detail = 044;
  EXPECT_THAT(words(mode), IsGolden());
  EXPECT_THAT(words(of_program(ENOENT, StartFault::dead_link, "/x")), IsGolden());
  EXPECT_THAT(words(of_program(ENOENT, StartFault::not_in_path, "/p:/q")), IsGolden());
}

TEST_F(StartTroubleTest, OfAnotherMachineNamesIt) {
  for (const std::uint32_t machine :
       {EM_X86_64, EM_386, EM_AARCH64, EM_ARM, EM_RISCV, EM_PPC64, EM_S390, 4711}) {
    StartTrouble other = of_program(ENOEXEC, StartFault::other_machine);
    other.detail = machine;
    EXPECT_THAT(words(other), IsGolden());
  }
}

TEST_F(StartTroubleTest, OfARelativeNameSaysWhereItWasLookedUp) {
  EXPECT_THAT(words(of_program(ENOENT)), IsGolden());
  order_.program.work_dir = "/w";
  EXPECT_THAT(words(of_program(ENOENT)), IsGolden());
  order_.program.argv = {"/run"};
  EXPECT_THAT(words(of_program(ENOENT)), IsGolden());
}

TEST_F(StartTroubleTest, OfACommandThatIsTooLongSaysHowLongItIs) {
  order_.program.argv = {"run", "12345"};
  order_.program.env = {{"AB", "c"}};
  EXPECT_THAT(words(of_program(E2BIG)), IsGolden());
}

TEST_F(StartTroubleTest, ShowsCharactersThatCannotBeSeen) {
  order_.program.argv = {
      "/a\tb\r\x7f"
      "c"};
  EXPECT_THAT(words(of_program(ENOENT)), IsGolden());
}

}  // namespace
}  // namespace muster::process
