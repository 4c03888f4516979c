// The pieces of SVG that every chart is made of.
#pragma once

#include <string>

namespace ordito::report::svg {

/// Text as it may stand in an element or in an attribute.
std::string escaped(const std::string& text);

/// A line of text at a point; `attributes` as they stand in the element.
std::string text(double x, double y, const std::string& attributes, const std::string& content);

}  // namespace ordito::report::svg
