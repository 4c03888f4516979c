// Exercises: a student writes one function, and `ordito lab check NAME FILE.cu` says whether it is right, whether its
// counters are within bounds, and whether the checker finds anything.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::cli {

/// A counter of one call and what it may be at most.
struct ExerciseBound {
  std::string metric;
  double atMost = 0;
  std::string words;
};

struct Exercise {
  std::string name, title;
  std::string countedSize, checkedSize;
  int streamsAtLeast = 0, copiesAtLeast = 0;  // of what is recorded on a line of time; 0: it is not recorded
  std::vector<ExerciseBound> bounds;
};

Expected<std::vector<Exercise>> loadExercises(const std::filesystem::path& labFolder);

/// What a student begins with, the task in its opening.
Expected<std::string> exerciseStart(const std::filesystem::path& labFolder, const Exercise& exercise);

/// Compiles the student's file with the exercise's judge, prints a line for each question and returns whether all of
/// them are answered well.
Expected<bool> checkExercise(const std::filesystem::path& labFolder, const Exercise& exercise,
                             const std::filesystem::path& file);

}  // namespace ordito::cli
