// Two units with the same static names in one program (-rdc=true); see unit_statics.cu.
#include "expect.hpp"
#include "unit_statics.hpp"

int main() {
  int* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, sizeof(Answers)));
  const Answers first = askFirst(device, 3, 40), second = askSecond(device, 5, 60), again = askFirst(device, 4, 41);
  EXPECT(first.scaled == 30 && first.counted == 1 && first.typed == 47 && first.typedOther == 1040);
  EXPECT(first.hidden == 40 && first.table == 4 && first.untouched == 100);
  EXPECT(second.scaled == 50 && second.counted == 2 && second.typed == 74 && second.typedOther == 2060);
  EXPECT(second.hidden == 60 && second.table == 5 && second.untouched == 200);
  EXPECT(again.scaled == 40 && again.counted == 2 && again.typed == 48 && again.typedOther == 1041);
  EXPECT(again.hidden == 41 && again.table == 4 && again.untouched == 100);
  EXPECT_OK(cudaFree(device));
  return finish();
}
