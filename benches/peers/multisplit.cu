// What a user of CUDA would take in place of multisplit: cub::DeviceRadixSort::SortPairs on the
// bits that the classes need, u32 keys and u32 values.
//
// nvcc -O3 -arch=native multisplit.cu -o multisplit && ./multisplit
//
// Output: a JSON line for each case with the median of samples, each between two CUDA events around
// as many sorts as make it longer than 0.4 ms. Results are compared with a stable counting sort.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include <cub/cub.cuh>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t error = (call);                                                       \
        if (error != cudaSuccess) {                                                       \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));           \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

static uint64_t mix(uint64_t counter) {
    uint64_t z = counter * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

struct Sort {
    uint32_t *keys_in, *keys_out, *values_in, *values_out;
    void *scratch;
    size_t scratch_bytes;
    int n, bits;

    void run() {
        CHECK(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys_in, keys_out, values_in,
                                              values_out, n, 0, bits));
    }
};

static float sample(Sort &sort, int repeats) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < repeats; i++) sort.run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return ms;
}

static bool right(const Sort &sort, const std::vector<uint32_t> &keys, uint32_t classes) {
    std::vector<uint32_t> next(classes + 1, 0), found(sort.n), values(sort.n);
    for (uint32_t key : keys) next[key + 1]++;
    std::partial_sum(next.begin(), next.end(), next.begin());
    CHECK(cudaMemcpy(found.data(), sort.keys_out, sort.n * 4ull, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(values.data(), sort.values_out, sort.n * 4ull, cudaMemcpyDeviceToHost));
    for (int i = 0; i < sort.n; i++) {
        uint32_t place = next[keys[i]]++;
        if (found[place] != keys[i] || values[place] != (uint32_t)i) return false;
    }
    return true;
}

static void measure(int n, int bits) {
    uint32_t classes = 1u << bits;
    std::vector<uint32_t> keys(n), values(n);
    for (int i = 0; i < n; i++) {
        keys[i] = (uint32_t)(((mix((uint64_t)i ^ 0x5eed) >> 32) * classes) >> 32);
        values[i] = i;
    }
    Sort sort{};
    sort.n = n;
    sort.bits = bits;
    for (uint32_t **buffer : {&sort.keys_in, &sort.keys_out, &sort.values_in, &sort.values_out})
        CHECK(cudaMalloc(buffer, n * 4ull));
    CHECK(cudaMemcpy(sort.keys_in, keys.data(), n * 4ull, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(sort.values_in, values.data(), n * 4ull, cudaMemcpyHostToDevice));
    sort.run();
    CHECK(cudaMalloc(&sort.scratch, sort.scratch_bytes));
    int repeats = 1;
    while (sample(sort, repeats) < 0.4f && repeats < 256) repeats *= 2;
    std::vector<float> samples;
    for (int i = 0; i < 21; i++) samples.push_back(sample(sort, repeats) / repeats);
    std::sort(samples.begin(), samples.end());
    std::printf("{\"peer\": \"cub\", \"n\": %d, \"bits\": %d, \"median_us\": %.2f, \"least_us\": %.2f, "
                "\"right\": %s}\n",
                n, bits, samples[10] * 1e3, samples[0] * 1e3, right(sort, keys, classes) ? "true" : "false");
    for (void *buffer : {(void *)sort.keys_in, (void *)sort.keys_out, (void *)sort.values_in,
                         (void *)sort.values_out, sort.scratch})
        CHECK(cudaFree(buffer));
}

int main() {
    for (int n : {1 << 16, 1 << 20, 1 << 24, 1 << 26})
        for (int bits : {3, 4, 8}) measure(n, bits);
    return 0;
}
