// CUB's reduction, scan and radix sort, one sample for each line that is read from standard input.
//
// Usage: cub WORK N SETS REPEATS
//   WORK     reduce_f32 (DeviceReduce::Sum), scan_u32 (DeviceScan::InclusiveSum), or
//            DeviceRadixSort::SortPairs of u32 keys and u32 values on the bits that classes need:
//            permutation_8 and pairs_8 on 3, pairs_256 on 8
//   N        elements
//   SETS     copies of the arrays, used in turn: 1 for a warm cache
//   REPEATS  calls between the two events of a sample
// Prints "ready" once the result has been verified, then nanoseconds a call for each line.
//
// Temporary storage is allocated once, outside what is timed. Build: nvcc -O3 -o cub cub.cu

#include <cub/cub.cuh>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void check(cudaError_t error, const char *doing) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", doing, cudaGetErrorString(error));
        std::exit(1);
    }
}

// The contents are not those of the other side: what is timed does not depend on them.
static uint32_t mixed(uint64_t index) {
    uint64_t z = index * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    return static_cast<uint32_t>(z >> 32);
}

template <typename Element>
struct Work {
    bool scan;
    int64_t n;
    std::vector<Element *> inputs, outputs;
    void *temporary = nullptr;
    size_t temporary_bytes = 0;

    cudaError_t call(size_t set) {
        if (scan) {
            return cub::DeviceScan::InclusiveSum(temporary, temporary_bytes, inputs[set],
                                                 outputs[set], n);
        }
        return cub::DeviceReduce::Sum(temporary, temporary_bytes, inputs[set], outputs[set], n);
    }
};

template <typename Element>
static Element element(uint64_t index);
template <>
float element<float>(uint64_t index) {
    return static_cast<float>(mixed(index) >> 8) / 16777216.0f;
}
template <>
uint32_t element<uint32_t>(uint64_t index) {
    return mixed(index);
}

template <typename Element>
static void verify(Work<Element> &work, const std::vector<Element> &input) {
    std::vector<Element> output(work.scan ? work.n : 1);
    check(cudaMemcpy(output.data(), work.outputs[0], output.size() * sizeof(Element),
                     cudaMemcpyDeviceToHost), "reading back");
    if (!work.scan) {
        double sum = 0;
        for (Element value : input) sum += value;
        if (std::fabs(output[0] - sum) > 1e-4 * sum) {
            std::fprintf(stderr, "the sum is %g, not %g\n", double(output[0]), sum);
            std::exit(1);
        }
        return;
    }
    Element sum = 0;
    for (int64_t i = 0; i < work.n; i++) {
        sum += input[i];
        if (output[i] != sum) {
            std::fprintf(stderr, "prefix sum %lld is wrong\n", static_cast<long long>(i));
            std::exit(1);
        }
    }
}

struct Sort {
    int bits;
    int64_t n;
    std::vector<uint32_t *> keys, values, keys_sorted, values_sorted;
    void *temporary = nullptr;
    size_t temporary_bytes = 0;

    cudaError_t call(size_t set) {
        // As most callers do: offsets of 64 bits, which an int64_t asks for, are slower.
        return cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys[set],
                                               keys_sorted[set], values[set], values_sorted[set],
                                               static_cast<int>(n), 0, bits);
    }
};

static void verify(Sort &sort, const std::vector<uint32_t> &keys) {
    std::vector<uint32_t> found(sort.n), values(sort.n), next((1u << sort.bits) + 1, 0);
    check(cudaMemcpy(found.data(), sort.keys_sorted[0], sort.n * 4, cudaMemcpyDeviceToHost),
          "reading back");
    check(cudaMemcpy(values.data(), sort.values_sorted[0], sort.n * 4, cudaMemcpyDeviceToHost),
          "reading back");
    for (uint32_t key : keys) next[key + 1]++;
    for (size_t i = 1; i < next.size(); i++) next[i] += next[i - 1];
    for (int64_t i = 0; i < sort.n; i++) {
        uint32_t place = next[keys[i]]++;
        if (found[place] != keys[i] || values[place] != static_cast<uint32_t>(i)) {
            std::fprintf(stderr, "place %u is wrong\n", place);
            std::exit(1);
        }
    }
}

// Prints "ready", then a sample for each line.
template <typename Called>
static void sample_each_line(Called &work, size_t sets, int repeats) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "creating an event");
    check(cudaEventCreate(&end), "creating an event");
    std::printf("ready\n");
    std::fflush(stdout);
    size_t set = 0;
    char line[64];
    while (std::fgets(line, sizeof line, stdin)) {
        // As on our side: one call that is not timed goes before.
        check(work.call(set), "a call");
        set = (set + 1) % sets;
        check(cudaEventRecord(begin), "an event");
        for (int i = 0; i < repeats; i++) {
            check(work.call(set), "a call");
            set = (set + 1) % sets;
        }
        check(cudaEventRecord(end), "an event");
        check(cudaEventSynchronize(end), "waiting");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end), "the time");
        std::printf("%.3f\n", milliseconds * 1e6 / repeats);
        std::fflush(stdout);
    }
}

static int run_sort(int bits, int64_t n, size_t sets, int repeats) {
    Sort sort{bits, n};
    std::vector<uint32_t> keys(n), values(n);
    for (int64_t i = 0; i < n; i++) {
        keys[i] = mixed(i) >> (32 - bits);
        values[i] = static_cast<uint32_t>(i);
    }
    for (size_t set = 0; set < sets; set++) {
        for (auto *buffers : {&sort.keys, &sort.values, &sort.keys_sorted, &sort.values_sorted}) {
            uint32_t *buffer = nullptr;
            check(cudaMalloc(&buffer, n * 4), "allocating");
            buffers->push_back(buffer);
        }
        check(cudaMemcpy(sort.keys[set], keys.data(), n * 4, cudaMemcpyHostToDevice), "writing");
        check(cudaMemcpy(sort.values[set], values.data(), n * 4, cudaMemcpyHostToDevice), "writing");
    }
    check(sort.call(0), "asking for the temporary storage's size");
    check(cudaMalloc(&sort.temporary, sort.temporary_bytes), "allocating");
    check(sort.call(0), "the first call");
    check(cudaDeviceSynchronize(), "the first call");
    verify(sort, keys);
    sample_each_line(sort, sets, repeats);
    return 0;
}

template <typename Element>
static int run(bool scan, int64_t n, size_t sets, int repeats) {
    Work<Element> work{scan, n};
    std::vector<Element> input(n);
    for (int64_t i = 0; i < n; i++) input[i] = element<Element>(i);
    for (size_t set = 0; set < sets; set++) {
        Element *in = nullptr, *out = nullptr;
        check(cudaMalloc(&in, n * sizeof(Element)), "allocating");
        check(cudaMalloc(&out, (scan ? n : 1) * sizeof(Element)), "allocating");
        check(cudaMemcpy(in, input.data(), n * sizeof(Element), cudaMemcpyHostToDevice), "writing");
        work.inputs.push_back(in);
        work.outputs.push_back(out);
    }
    check(work.call(0), "asking for the temporary storage's size");
    check(cudaMalloc(&work.temporary, work.temporary_bytes), "allocating");
    check(work.call(0), "the first call");
    check(cudaDeviceSynchronize(), "the first call");
    verify(work, input);
    sample_each_line(work, sets, repeats);
    return 0;
}

int main(int count, char **arguments) {
    if (count != 5) {
        std::fprintf(stderr, "usage: cub reduce_f32|scan_u32|permutation_8|pairs_8|pairs_256 N SETS REPEATS\n");
        return 2;
    }
    int64_t n = std::atoll(arguments[2]);
    size_t sets = std::atoi(arguments[3]);
    int repeats = std::atoi(arguments[4]);
    if (n < 1 || sets < 1 || repeats < 1) {
        std::fprintf(stderr, "N, SETS and REPEATS are at least 1\n");
        return 2;
    }
    if (std::strcmp(arguments[1], "reduce_f32") == 0) return run<float>(false, n, sets, repeats);
    if (std::strcmp(arguments[1], "scan_u32") == 0) return run<uint32_t>(true, n, sets, repeats);
    if (std::strcmp(arguments[1], "permutation_8") == 0) return run_sort(3, n, sets, repeats);
    if (std::strcmp(arguments[1], "pairs_8") == 0) return run_sort(3, n, sets, repeats);
    if (std::strcmp(arguments[1], "pairs_256") == 0) return run_sort(8, n, sets, repeats);
    std::fprintf(stderr, "no such work: %s\n", arguments[1]);
    return 2;
}
