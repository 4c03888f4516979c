// Numbers as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ordito::report {

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t value);
/// A count in the largest unit that leaves a digit before the point: "855.64 M", "304".
std::string count(double value);
/// A size in binary units: "256.00 MiB", "512 B".
std::string bytes(double value);
/// A duration in the fitting unit: "1.325 ms", "12.000 us".
std::string seconds(double value);
/// Columns that a UTF-8 text takes on a terminal, at one per code point.
std::size_t displayWidth(std::string_view text);

}  // namespace ordito::report
