// NCCL as training uses it: every GPU has a part of the data, gradients are averaged over all, and halves of a line of
// cells exchange their edges. One process has all GPUs; compiled with WITH_MPI every process has one, and MPI carries
// the identity.
#include <nccl.h>

#include <cmath>
#include <vector>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#include "expect.hpp"

#define EXPECT_NCCL(call) EXPECT((call) == ncclSuccess)

constexpr int kSamples = 1000, kCells = 300, kSteps = 50;

/// A GPU, its rank and its stream.
struct Member {
  int device, rank;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

/// x and y of the rank's samples lie on y = 3 x - 1; the gradient of the squared error by slope and offset.
__global__ void gradientOfLine(const float* line, float* gradient, int rank) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= kSamples) return;
  const float x = static_cast<float>((i * 37 + rank * 11) % 200) / 100 - 1, error = line[0] * x + line[1] - (3 * x - 1);
  atomicAdd(gradient, error * x / kSamples);
  atomicAdd(gradient + 1, error / kSamples);
}
__global__ void step(float* line, float* gradient) {
  const int i = threadIdx.x;
  line[i] -= gradient[i];
  gradient[i] = 0;
}

void testTraining(std::vector<Member>& members) {
  std::vector<float*> lines(members.size()), gradients(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_OK(cudaSetDevice(members[i].device));
    for (float** memory : {&lines[i], &gradients[i]}) {
      EXPECT_OK(cudaMalloc(memory, 2 * sizeof(float)));
      EXPECT_OK(cudaMemset(*memory, 0, 2 * sizeof(float)));
    }
  }
  for (int round = 0; round < kSteps; ++round) {
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_OK(cudaSetDevice(members[i].device));
      gradientOfLine<<<(kSamples + 255) / 256, 256, 0, members[i].stream>>>(lines[i], gradients[i], members[i].rank);
    }
    EXPECT_NCCL(ncclGroupStart());
    for (size_t i = 0; i < members.size(); ++i)
      EXPECT_NCCL(ncclAllReduce(gradients[i], gradients[i], 2, ncclFloat, ncclAvg, members[i].comm, members[i].stream));
    EXPECT_NCCL(ncclGroupEnd());
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_OK(cudaSetDevice(members[i].device));
      step<<<1, 2, 0, members[i].stream>>>(lines[i], gradients[i]);
    }
  }
  for (size_t i = 0; i < members.size(); ++i) {
    float line[2];
    EXPECT_OK(cudaSetDevice(members[i].device));
    EXPECT_OK(cudaMemcpyAsync(line, lines[i], sizeof line, cudaMemcpyDeviceToHost, members[i].stream));
    EXPECT_OK(cudaStreamSynchronize(members[i].stream));
    EXPECT(std::fabs(line[0] - 3) < 1e-3f && std::fabs(line[1] + 1) < 1e-3f);
    EXPECT_OK(cudaFree(lines[i]));
    EXPECT_OK(cudaFree(gradients[i]));
  }
}

/// Cell i + 1 of the rank's part of a line; cells 0 and kCells + 1 belong to the neighbours.
__global__ void fill(float* cells, int rank) {
  for (int i = threadIdx.x; i < kCells; i += blockDim.x) cells[i + 1] = static_cast<float>(rank * kCells + i);
}
/// Each cell becomes the sum of its neighbours.
__global__ void addNeighbours(const float* cells, float* sums) {
  for (int i = threadIdx.x; i < kCells; i += blockDim.x) sums[i] = cells[i] + cells[i + 2];
}

void testEdges(std::vector<Member>& members, int ranks) {
  std::vector<float*> cells(members.size()), sums(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_OK(cudaSetDevice(members[i].device));
    EXPECT_OK(cudaMalloc(&cells[i], (kCells + 2) * sizeof(float)));
    EXPECT_OK(cudaMalloc(&sums[i], kCells * sizeof(float)));
    fill<<<1, 128, 0, members[i].stream>>>(cells[i], members[i].rank);
  }
  EXPECT_NCCL(ncclGroupStart());
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& own = members[i];
    const int left = (own.rank + ranks - 1) % ranks, right = (own.rank + 1) % ranks;
    EXPECT_NCCL(ncclSend(cells[i] + kCells, 1, ncclFloat, right, own.comm, own.stream));
    EXPECT_NCCL(ncclSend(cells[i] + 1, 1, ncclFloat, left, own.comm, own.stream));
    EXPECT_NCCL(ncclRecv(cells[i], 1, ncclFloat, left, own.comm, own.stream));
    EXPECT_NCCL(ncclRecv(cells[i] + kCells + 1, 1, ncclFloat, right, own.comm, own.stream));
  }
  EXPECT_NCCL(ncclGroupEnd());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_OK(cudaSetDevice(members[i].device));
    addNeighbours<<<1, 128, 0, members[i].stream>>>(cells[i], sums[i]);
    std::vector<float> result(kCells);
    EXPECT_OK(
        cudaMemcpyAsync(result.data(), sums[i], kCells * sizeof(float), cudaMemcpyDeviceToHost, members[i].stream));
    EXPECT_OK(cudaStreamSynchronize(members[i].stream));
    const int all = ranks * kCells;
    bool isRight = true;
    for (int j = 0; j < kCells; ++j) {
      const int place = members[i].rank * kCells + j;
      isRight = isRight && result[j] == static_cast<float>((place + all - 1) % all + (place + 1) % all);
    }
    EXPECT(isRight);
    EXPECT_OK(cudaFree(cells[i]));
    EXPECT_OK(cudaFree(sums[i]));
  }
}

int main(int count, char** arguments) {
  std::vector<Member> members;
  int ranks = 0;
#ifdef WITH_MPI
  int rank = 0;
  ncclUniqueId id;
  EXPECT(MPI_Init(&count, &arguments) == MPI_SUCCESS);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) EXPECT_NCCL(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  members.push_back({0, rank});
  EXPECT_NCCL(ncclCommInitRank(&members[0].comm, ranks, id, rank));
#else
  (void)count, (void)arguments;
  EXPECT_OK(cudaGetDeviceCount(&ranks));
  std::vector<ncclComm_t> comms(ranks);
  EXPECT_NCCL(ncclCommInitAll(comms.data(), ranks, nullptr));
  for (int i = 0; i < ranks; ++i) members.push_back({i, i, comms[i]});
#endif
  for (Member& member : members) {
    EXPECT_OK(cudaSetDevice(member.device));
    EXPECT_OK(cudaStreamCreate(&member.stream));
  }
  testTraining(members);
  testEdges(members, ranks);
  for (const Member& member : members) EXPECT_NCCL(ncclCommDestroy(member.comm));
  const int result = finish();
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return result;
}
