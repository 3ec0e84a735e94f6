// CUB's reduction and scan, one sample for each line that is read from standard input.
//
// Usage: cub WORK N SETS REPEATS
//   WORK     reduce_f32 (DeviceReduce::Sum) or scan_u32 (DeviceScan::InclusiveSum)
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
    return 0;
}

int main(int count, char **arguments) {
    if (count != 5) {
        std::fprintf(stderr, "usage: cub reduce_f32|scan_u32 N SETS REPEATS\n");
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
    std::fprintf(stderr, "no such work: %s\n", arguments[1]);
    return 2;
}
