#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "model/time.hpp"

namespace muster::cli {

/// Says on standard error what went wrong, in the command's own voice.
void complain(const std::string& message);

/// The same text for the standard error as it is, without what a terminal would obey.
void print_error(const std::string& text);

/// Opens those of the descriptors 0 to 2 that are closed, before anything else is opened: a file or
/// a connection with their numbers would get what is printed. Writing to them, or reading, fails.
void open_standard_streams();

/// The error in words for people: the file that it is about and the system's reason, and no text
/// that is for programmers.
std::string sentence_of(const std::exception& error);

/// The path as an absolute one; nothing, after a complaint, when the folder that it is meant from
/// is gone.
std::optional<std::filesystem::path> absolute_path(const std::filesystem::path& path);

/// Whether everything said on the standard output got there. False after a complaint.
bool flush_standard_output();

/// Whether the standard output took what was said of something that is done. False after a
/// complaint that begins with `done`, such as "job 12 was taken".
bool told(const std::string& done);

/// Whether write_output() will find room for the file, tried before long work is done for it; true
/// for "-" and for no file. False after a complaint.
bool can_write(const std::filesystem::path& file);

/// Writes a whole file by way of `write`, or standard output when the name is "-". Nothing is left
/// half-written: the file appears under its name when it is complete (a pipe or a device is written
/// in place). False after a complaint.
bool write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream&)>& write);
/// As write_output(); when `write` answers false, its output is dropped and the file stays as it
/// was.
bool write_or_drop(const std::filesystem::path& file,
                   const std::function<bool(std::ostream&)>& write);

/// Time since the command began, by a clock that only runs forward. It measures, never decides.
Duration elapsed();

}  // namespace muster::cli
