// What cooperative groups cost beside the intrinsics that they stand for.
//
//   nvcc -O3 -std=c++17 -arch=native groups.cu -o groups && ./groups
//   cuobjdump -sass groups | awk '/Function :/ { f = $3 } /^ +\/\*[0-9a-f][0-9a-f][0-9a-f][0-9a-f]\*\// { c[f]++ }
//       END { for (f in c) print "instructions," f "," c[f] }'
//
// Each pair of kernels says the same twice, by intrinsics and by a group, in a chain of LINKS
// dependent links. Lines with commas: pair, nanoseconds by intrinsics, by a group (medians of 41
// samples of 16 launches each, in turn), time by a group over time by intrinsics. Both results are compared first.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace groups = cooperative_groups;

constexpr int LINKS = 256, THREADS = 256, BLOCKS = 4096;
constexpr unsigned ALL = 0xffffffffu;

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

// A sum over 32 lanes by shuffles down.
extern "C" __global__ void down_intrinsics(unsigned *out) {
    unsigned v = out[blockIdx.x * THREADS + threadIdx.x];
    for (int k = 0; k < LINKS; k++)
        for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(ALL, v, distance);
    out[blockIdx.x * THREADS + threadIdx.x] = v;
}
extern "C" __global__ void down_groups(unsigned *out) {
    auto tile = groups::tiled_partition<32>(groups::this_thread_block());
    unsigned v = out[blockIdx.x * THREADS + threadIdx.x];
    for (int k = 0; k < LINKS; k++)
        for (int distance = 16; distance > 0; distance /= 2) v += tile.shfl_down(v, distance);
    out[blockIdx.x * THREADS + threadIdx.x] = v;
}

// A sum over tiles of 8 lanes by shuffles xor.
extern "C" __global__ void tile8_intrinsics(unsigned *out) {
    unsigned v = out[blockIdx.x * THREADS + threadIdx.x];
    for (int k = 0; k < LINKS; k++)
        for (int mask = 4; mask > 0; mask /= 2) v += __shfl_xor_sync(ALL, v, mask);
    out[blockIdx.x * THREADS + threadIdx.x] = v;
}
extern "C" __global__ void tile8_groups(unsigned *out) {
    auto tile = groups::tiled_partition<8>(groups::this_thread_block());
    unsigned v = out[blockIdx.x * THREADS + threadIdx.x];
    for (int k = 0; k < LINKS; k++)
        for (int mask = 4; mask > 0; mask /= 2) v += tile.shfl_xor(v, mask);
    out[blockIdx.x * THREADS + threadIdx.x] = v;
}

// The same of u32 and 32 lanes by what is one instruction from 8.0 on.
extern "C" __global__ void reduce_intrinsics(unsigned *out) {
    unsigned v = out[blockIdx.x * THREADS + threadIdx.x];
    for (int k = 0; k < LINKS; k++) v = __reduce_add_sync(ALL, v) + threadIdx.x;
    out[blockIdx.x * THREADS + threadIdx.x] = v;
}
extern "C" __global__ void reduce_groups(unsigned *out) {
    auto tile = groups::tiled_partition<32>(groups::this_thread_block());
    unsigned v = out[blockIdx.x * THREADS + threadIdx.x];
    for (int k = 0; k < LINKS; k++) v = groups::reduce(tile, v, groups::plus<unsigned>()) + threadIdx.x;
    out[blockIdx.x * THREADS + threadIdx.x] = v;
}

// A lane's place among the lanes of a branch, and their number: what one atomic addition for all needs.
extern "C" __global__ void branch_intrinsics(unsigned *out) {
    unsigned place = blockIdx.x * THREADS + threadIdx.x, v = out[place];
    for (int k = 0; k < LINKS; k++)
        if ((v >> k % 32 & 1) != 0) {
            unsigned mask = __activemask(), below;
            asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
            v += __popc(mask & below) + 3 * __popc(mask);
        }
    out[place] = v;
}
extern "C" __global__ void branch_groups(unsigned *out) {
    unsigned place = blockIdx.x * THREADS + threadIdx.x, v = out[place];
    for (int k = 0; k < LINKS; k++)
        if ((v >> k % 32 & 1) != 0) {
            auto group = groups::coalesced_threads();
            v += group.thread_rank() + 3 * group.size();
        }
    out[place] = v;
}

typedef void (*Kernel)(unsigned *);

static void fill(unsigned *out) {
    std::vector<unsigned> words(THREADS * BLOCKS);
    for (size_t i = 0; i < words.size(); i++) words[i] = static_cast<unsigned>(i * 0x9e3779b9u) >> 7;
    check(cudaMemcpy(out, words.data(), words.size() * 4, cudaMemcpyHostToDevice));
}

static std::vector<unsigned> result(Kernel kernel, unsigned *out) {
    fill(out);
    kernel<<<BLOCKS, THREADS>>>(out);
    std::vector<unsigned> words(THREADS * BLOCKS);
    check(cudaMemcpy(words.data(), out, words.size() * 4, cudaMemcpyDeviceToHost));
    return words;
}

static double sample(Kernel kernel, unsigned *out, cudaEvent_t begin, cudaEvent_t end) {
    constexpr int LAUNCHES = 16;
    kernel<<<BLOCKS, THREADS>>>(out);
    check(cudaEventRecord(begin));
    for (int i = 0; i < LAUNCHES; i++) kernel<<<BLOCKS, THREADS>>>(out);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1e6 / LAUNCHES;
}

int main() {
    struct { const char *name; Kernel intrinsics, groups; } pairs[] = {
        {"shuffle down, 32 lanes", down_intrinsics, down_groups},
        {"shuffle xor, tiles of 8", tile8_intrinsics, tile8_groups},
        {"reduce, 32 lanes", reduce_intrinsics, reduce_groups},
        {"lanes of a branch", branch_intrinsics, branch_groups},
    };
    unsigned *out;
    check(cudaMalloc(&out, THREADS * BLOCKS * 4));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    // An idle GPU takes a while to reach its clocks.
    for (int i = 0; i < 300; i++) sample(down_intrinsics, out, begin, end);
    std::printf("pair,intrinsics_ns,groups_ns,ratio\n");
    for (auto &pair : pairs) {
        // The lanes of a branch are whichever came together, which nothing promises to be all.
        if (result(pair.intrinsics, out) != result(pair.groups, out))
            std::printf("%s: the results differ\n", pair.name);
        // What the lanes of a branch do depends on what they hold.
        fill(out);
        std::vector<double> a, b;
        for (int i = 0; i < 41; i++) {
            a.push_back(sample(pair.intrinsics, out, begin, end));
            b.push_back(sample(pair.groups, out, begin, end));
        }
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        std::printf("%s,%.0f,%.0f,%.3f\n", pair.name, a[20], b[20], b[20] / a[20]);
    }
    return 0;
}
