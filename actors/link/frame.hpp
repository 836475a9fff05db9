#pragma once

#include <capnp/message.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/link/frame.capnp.h"

// Frames of the worker link: four bytes, the length of what follows (little endian, a multiple of
// eight), then one flat Cap'n Proto message whose root is a Frame.

namespace muster {

/// Ends that differ in the major version refuse each other; a newer minor one adds kinds and
/// fields that an older end passes over.
inline constexpr std::uint16_t kLinkMajor = 1;
inline constexpr std::uint16_t kLinkMinor = 8;
/// From this minor version on a worker answers questions about commands beside tasks.
inline constexpr std::uint16_t kLinkMinorOfExec = 6;
/// From this one on it says what its attempts take.
inline constexpr std::uint16_t kLinkMinorOfUsage = 7;

inline constexpr std::size_t kFrameHeaderBytes = 4;

/// A frame as it goes over the wire, header included.
using FrameBytes = std::string;

/// Builds a frame; `fill` sets its kind. Empty when it would be longer than `max_bytes`.
FrameBytes make_frame(const std::function<void(link_wire::Frame::Builder)>& fill,
                      std::size_t max_bytes);

/// Frames that steer the link itself.
FrameBytes heartbeat_frame();
FrameBytes credit_frame(std::uint32_t count);
FrameBytes welcome_frame(std::uint32_t credits);
/// A reason that is too long is cut.
FrameBytes refused_frame(std::string_view reason);

/// The length in a frame's header.
std::uint32_t frame_length(std::span<const unsigned char, kFrameHeaderBytes> header);

/// Why no frame of that length is read, if it is not.
std::optional<std::string> length_problem(std::uint32_t length, std::size_t max_bytes);

/// Hands the frame in `words` to `use`; its answer, or what is wrong with the bytes. Nothing is
/// thrown, neither by what is malformed nor by what `use` looks at.
std::optional<std::string> read_frame(
    std::span<const std::uint64_t> words,
    const std::function<std::optional<std::string>(link_wire::Frame::Reader)>& use);

/// Whether the kind takes a credit: all do but the ones that steer the link.
bool takes_credit(link_wire::Frame::Which kind);

/// Fit to be written to logs and documents: at most `max_bytes`, valid UTF-8, no control
/// characters.
std::string clean_text(std::string_view text, std::size_t max_bytes);

}  // namespace muster
