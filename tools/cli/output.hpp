#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>

#include "model/time.hpp"

namespace muster::cli {

/// Says on standard error what went wrong, in the command's own voice.
void complain(const std::string& message);

/// Whether everything said on the standard output got there. False after a complaint.
bool flush_standard_output();

/// Whether write_output() will find room for the file, tried before long work is done for it; true
/// for "-" and for no file. False after a complaint.
bool can_write(const std::filesystem::path& file);

/// Writes a whole file by way of `write`, or standard output when the name is "-". Nothing is left
/// half-written: the file appears under its name when it is complete (a pipe or a device is written
/// in place). False after a complaint.
bool write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream&)>& write);
/// The same; when `write` answers false, what it wrote is dropped and the file stays as it was.
bool write_or_drop(const std::filesystem::path& file,
                   const std::function<bool(std::ostream&)>& write);

/// Time since the command began, by a clock that only runs forward. It measures, never decides.
Duration elapsed();

}  // namespace muster::cli
