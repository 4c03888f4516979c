// Recursion: a tree of bodies is built, weighed and walked by functions that call themselves, each with several ways.
#include <cmath>
#include <vector>

#include "first_result.cuh"

struct Node {
  float x, y, z, mass, size;
  int child[8];
};

__device__ __noinline__ float weigh(Node* nodes, int at, int depth) {
  Node& n = nodes[at];
  if (depth > 8) return n.mass;
  float mass = n.mass, x = n.x * n.mass, y = n.y * n.mass, z = n.z * n.mass;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    if (n.child[k] >= 0) {
      const float m = weigh(nodes, n.child[k], depth + 1);
      const Node& c = nodes[n.child[k]];
      mass += m, x += c.x * m, y += c.y * m, z += c.z * m;
    }
  n.mass = mass;
  if (mass > 0) n.x = x / mass, n.y = y / mass, n.z = z / mass;
  return mass;
}

__device__ __noinline__ void pull(const Node* nodes, int at, const float (&place)[3], float limit, float (&force)[3]) {
  const Node& n = nodes[at];
  const float dx = n.x - place[0], dy = n.y - place[1], dz = n.z - place[2];
  const float square = dx * dx + dy * dy + dz * dz + 0.01f;
  bool isFar = n.size * n.size < limit * square, isLeaf = true;
#pragma unroll
  for (int k = 0; k < 8; ++k) isLeaf &= n.child[k] < 0;
  if (isFar || isLeaf) {
    const float strength = n.mass / (square * sqrtf(square));
    force[0] += dx * strength, force[1] += dy * strength, force[2] += dz * strength;
    return;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int c = n.child[k];
    if (c < 0) continue;
    if (nodes[c].mass == 0) continue;
    if (k % 2 && nodes[c].size < 0.001f) {
      force[k % 3] += nodes[c].mass;
      continue;
    }
    pull(nodes, c, place, limit, force);
  }
}

__device__ __noinline__ int count(const Node* nodes, int at, float least, int depth) {
  if (depth > 8 || nodes[at].mass < least) return 0;
  int sum = 1;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    if (nodes[at].child[k] >= 0) sum += count(nodes, nodes[at].child[k], least, depth + 1);
  return sum;
}

__global__ void weighTree(Node* nodes) {
  if (threadIdx.x == 0 && blockIdx.x == 0) weigh(nodes, 0, 0);
}

__global__ void walk(const Node* nodes, const float* places, int n, float* forces, int* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float place[3] = {places[3 * i], places[3 * i + 1], places[3 * i + 2]};
  float force[3] = {0, 0, 0};
  if (i % 2)
    pull(nodes, 0, place, 0.25f, force);
  else
    pull(nodes, 0, place, 1.0f, force);
  counts[i] = count(nodes, 0, i % 7 * 0.5f, 0);
  for (int d = 0; d < 3; ++d) forces[3 * i + d] = force[d];
}

int main() {
  sinceStart();
  constexpr int n = 2048;
  std::vector<Node> nodes;
  const auto add = [&](float x, float y, float z, float size) {
    Node made{x, y, z, 0, size, {}};
    for (int& c : made.child) c = -1;
    nodes.push_back(made);
    return int(nodes.size()) - 1;
  };
  add(0, 0, 0, 2);
  for (int level = 0, begin = 0; level < 3; ++level) {
    const int end = int(nodes.size());
    for (int at = begin; at < end; ++at)
      for (int k = 0; k < 8; ++k) {
        const Node parent = nodes[at];
        const float h = parent.size / 4;
        const int c = add(parent.x + (k & 1 ? h : -h), parent.y + (k & 2 ? h : -h), parent.z + (k & 4 ? h : -h), 2 * h);
        nodes[at].child[k] = c;
        if (level == 2) nodes[c].mass = 1;
      }
    begin = end;
  }
  std::vector<float> places(3 * n);
  for (int k = 0; k < 3 * n; ++k) places[k] = float(k * 7919 % 2001) / 1000 - 1;
  Node* deviceNodes;
  float *devicePlaces, *forces;
  int* counts;
  cudaMalloc(&deviceNodes, nodes.size() * sizeof(Node));
  cudaMalloc(&devicePlaces, n * 12);
  cudaMalloc(&forces, n * 12);
  cudaMalloc(&counts, n * 4);
  cudaMemcpy(deviceNodes, nodes.data(), nodes.size() * sizeof(Node), cudaMemcpyHostToDevice);
  cudaMemcpy(devicePlaces, places.data(), n * 12, cudaMemcpyHostToDevice);
  weighTree<<<1, 32>>>(deviceNodes);
  if (!launched()) return 1;
  walk<<<n / 128, 128>>>(deviceNodes, devicePlaces, n, forces, counts);
  if (!launched()) return 1;
  Node root;
  std::vector<int> hostCounts(n);
  cudaMemcpy(&root, deviceNodes, sizeof root, cudaMemcpyDeviceToHost);
  cudaMemcpy(hostCounts.data(), counts, n * 4, cudaMemcpyDeviceToHost);
  bool right = root.mass == 512;
  for (int k = 0; k < n; ++k) {
    // All leaves weigh 1, their parents 8, theirs 64.
    const float least = k % 7 * 0.5f;
    right &= hostCounts[k] == (least <= 1 ? 585 : 73);
  }
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return !right;
}
