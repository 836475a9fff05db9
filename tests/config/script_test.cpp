#include "config/script.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Script, SaysInItsFirstLineWhoseItIs) {
  EXPECT_TRUE(is_script("#!/bin/sh\n"));
  EXPECT_TRUE(is_script("#!"));
  EXPECT_TRUE(is_script("\xEF\xBB\xBF#!/bin/sh\n")) << "though no system would find it";
  EXPECT_FALSE(is_script(""));
  EXPECT_FALSE(is_script("#"));
  EXPECT_FALSE(is_script("\n#!/bin/sh\n"));
  EXPECT_FALSE(is_script(" #!/bin/sh\n"));
}

TEST(Script, OfTextWithUnixLineEndsCanBeSent) {
  EXPECT_EQ(script_fault("#!/bin/sh\necho \xC3\xA4\n"), "");
  EXPECT_EQ(script_fault("echo without a first line"), "");
  EXPECT_EQ(script_fault("#!/bin/sh\nprintf 'a\rb'\n"), "") << "a return is no line end";
}

TEST(Script, ThatSaysNothingOrIsAProgramIsNotSent) {
  EXPECT_NE(script_fault(""), "");
  EXPECT_NE(script_fault({"\x7f"
                          "ELF\0\0",
                          6}),
            "");
  EXPECT_NE(script_fault("#!/bin/sh\n\xFF\n"), "");
  EXPECT_NE(script_fault("\xEF\xBB\xBF#!/bin/sh\n"), "");
}

TEST(Script, MayHaveSoManyBytes) {
  EXPECT_EQ(script_fault(std::string(kMaxScriptBytes, '#')), "");
  const std::string fault = script_fault(std::string(kMaxScriptBytes + 1, '#'));
  EXPECT_TRUE(names(fault, std::to_string(kMaxScriptBytes + 1))) << fault;
}

TEST(Script, WithDosLineEndsSaysInWhichLineTheFirstOneIs) {
  EXPECT_TRUE(names(script_fault("#!/bin/sh\na\nb\r\nc\r\n"), "line 3"));
  EXPECT_FALSE(names(script_fault("#!/bin/sh\nb\r\n"), "interpreter"));
}

TEST(Script, WithADosLineEndInItsFirstLineNamesTheInterpreterThatIsNotThere) {
  EXPECT_TRUE(names(script_fault("#! /bin/bash\r\n"), "'/bin/bash\\r'"));
  EXPECT_TRUE(names(script_fault("#!\r\n"), "line 1"));
  EXPECT_TRUE(names(script_fault("#!/bin/a\x1b\r\n"), "'?\\r'")) << "nothing steers a terminal";
}

TEST(UnreadLines, AreThoseOfOtherSchedulers) {
  for (const char* line : {"#SBATCH -n 4", "#PBS -l x", "#BSUB -n 4", "#$ -pe x", "#HQ --cpus 4"}) {
    EXPECT_TRUE(names(unread_lines(std::string("#!/bin/sh\n") + line), "line 2")) << line;
  }
  EXPECT_EQ(unread_lines("#!/bin/sh\n# SBATCH -n 4\n #SBATCH\necho #SBATCH\n#$x\n"), "");
  EXPECT_EQ(unread_lines(""), "");
}

TEST(UnreadLines, AreCountedFromTheFirstOn) {
  const std::string text = unread_lines("#!/bin/sh\n\n#SBATCH -n 4\n#SBATCH -t 1\n#SBATCH -p x\n");
  EXPECT_TRUE(names(text, "line 3")) << text;
  EXPECT_TRUE(names(text, "2 more")) << text;
  EXPECT_TRUE(names(unread_lines("#$ -V\n"), "#$ ")) << "and named as they are written";
}

}  // namespace
}  // namespace muster
