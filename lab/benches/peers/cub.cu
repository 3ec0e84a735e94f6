// CUB's reduction, scan, radix sort and selection, one sample for each line that is read from standard input.
//
// Usage: cub WORK N SETS REPEATS
//   WORK     reduce_f32 (DeviceReduce::Sum), scan_u32 (DeviceScan::InclusiveSum), or
//            DeviceRadixSort::SortPairs of u32 keys and u32 values on the bits that classes need:
//            permutation_8 and pairs_8 on 3, pairs_256 on 8, sort_pairs_u32 on all 32; sort_keys_u32
//            (DeviceRadixSort::SortKeys), compact_half (DeviceSelect::Flagged of u32, flags of a byte)
//   N        elements
//   SETS     copies of the arrays, used in turn: 1 for a warm cache
//   REPEATS  calls between the two events of a sample
// Prints "ready" once the result has been verified, then nanoseconds a call for each line.
//
// Temporary storage is allocated once, outside what is timed. Build: nvcc -O3 -o cub cub.cu

#include <cub/cub.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
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
    bool pairs;
    int64_t n;
    std::vector<uint32_t *> keys, values, keys_sorted, values_sorted;
    void *temporary = nullptr;
    size_t temporary_bytes = 0;

    cudaError_t call(size_t set) {
        // As most callers do: offsets of 64 bits, which an int64_t asks for, are slower.
        if (!pairs) {
            return cub::DeviceRadixSort::SortKeys(temporary, temporary_bytes, keys[set],
                                                  keys_sorted[set], static_cast<int>(n), 0, bits);
        }
        return cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys[set],
                                               keys_sorted[set], values[set], values_sorted[set],
                                               static_cast<int>(n), 0, bits);
    }
};

static void verify(Sort &sort, const std::vector<uint32_t> &keys) {
    std::vector<uint32_t> found(sort.n), values(sort.n), order(sort.n);
    check(cudaMemcpy(found.data(), sort.keys_sorted[0], sort.n * 4, cudaMemcpyDeviceToHost),
          "reading back");
    check(cudaMemcpy(values.data(), sort.values_sorted[0], sort.n * 4, cudaMemcpyDeviceToHost),
          "reading back");
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    for (int64_t place = 0; place < sort.n; place++) {
        uint32_t index = order[place];
        if (found[place] != keys[index] || (sort.pairs && values[place] != index)) {
            std::fprintf(stderr, "place %lld is wrong\n", static_cast<long long>(place));
            std::exit(1);
        }
    }
}

struct Select {
    int64_t n;
    std::vector<uint32_t *> elements, kept;
    std::vector<unsigned char *> flags;
    int *count = nullptr;
    void *temporary = nullptr;
    size_t temporary_bytes = 0;

    cudaError_t call(size_t set) {
        return cub::DeviceSelect::Flagged(temporary, temporary_bytes, elements[set], flags[set],
                                          kept[set], count, static_cast<int>(n));
    }
};

static void verify(Select &select, const std::vector<uint32_t> &elements,
                   const std::vector<unsigned char> &flags) {
    std::vector<uint32_t> found(select.n);
    int count = 0, place = 0;
    check(cudaMemcpy(found.data(), select.kept[0], select.n * 4, cudaMemcpyDeviceToHost),
          "reading back");
    check(cudaMemcpy(&count, select.count, sizeof count, cudaMemcpyDeviceToHost), "reading back");
    bool right = true;
    for (int64_t i = 0; i < select.n; i++) {
        if (flags[i]) right = right && found[place++] == elements[i];
    }
    if (!right || place != count) {
        std::fprintf(stderr, "%d are kept, or not in order\n", count);
        std::exit(1);
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

static int run_sort(int bits, bool pairs, int64_t n, size_t sets, int repeats) {
    Sort sort{bits, pairs, n};
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

static int run_select(int64_t n, size_t sets, int repeats) {
    Select select{n};
    std::vector<uint32_t> elements(n);
    std::vector<unsigned char> flags(n);
    for (int64_t i = 0; i < n; i++) {
        elements[i] = mixed(i);
        flags[i] = mixed(~static_cast<uint64_t>(i)) >> 31;
    }
    for (size_t set = 0; set < sets; set++) {
        uint32_t *in = nullptr, *out = nullptr;
        unsigned char *set_flags = nullptr;
        check(cudaMalloc(&in, n * 4), "allocating");
        check(cudaMalloc(&out, n * 4), "allocating");
        check(cudaMalloc(&set_flags, n), "allocating");
        check(cudaMemcpy(in, elements.data(), n * 4, cudaMemcpyHostToDevice), "writing");
        check(cudaMemcpy(set_flags, flags.data(), n, cudaMemcpyHostToDevice), "writing");
        select.elements.push_back(in);
        select.kept.push_back(out);
        select.flags.push_back(set_flags);
    }
    check(cudaMalloc(&select.count, sizeof(int)), "allocating");
    check(select.call(0), "asking for the temporary storage's size");
    check(cudaMalloc(&select.temporary, select.temporary_bytes), "allocating");
    check(select.call(0), "the first call");
    check(cudaDeviceSynchronize(), "the first call");
    verify(select, elements, flags);
    sample_each_line(select, sets, repeats);
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
        std::fprintf(stderr, "usage: cub WORK N SETS REPEATS\n");
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
    if (std::strcmp(arguments[1], "permutation_8") == 0) return run_sort(3, true, n, sets, repeats);
    if (std::strcmp(arguments[1], "pairs_8") == 0) return run_sort(3, true, n, sets, repeats);
    if (std::strcmp(arguments[1], "pairs_256") == 0) return run_sort(8, true, n, sets, repeats);
    if (std::strcmp(arguments[1], "sort_pairs_u32") == 0) return run_sort(32, true, n, sets, repeats);
    if (std::strcmp(arguments[1], "sort_keys_u32") == 0) return run_sort(32, false, n, sets, repeats);
    if (std::strcmp(arguments[1], "compact_half") == 0) return run_select(n, sets, repeats);
    std::fprintf(stderr, "no such work: %s\n", arguments[1]);
    return 2;
}
