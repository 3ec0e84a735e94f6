// What a multiply-add costs by where its operands are: the loop of five_patterns/uniform in four ways.
//
//   nvcc -O3 -std=c++17 -fmad=false -arch=sm_90 operands.cu -o operands && ./operands
//   cuobjdump -sass operands | grep FFMA
//
// Lines of values with commas: `time,operands,n,microseconds a launch`. `registers`: all three operands
// are registers, which is what CUDA's compiler makes of the translated kernel, whose parameters come
// from memory. `immediate`: one is in the code. `two_chains`, `four_chains`: registers, in independent
// chains of the same total length, so that operands of the instruction before can be used again.
// `vulkan_code.py` shows what the Vulkan compiler makes of it.

#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct Params {
    unsigned n, trips;
    float a, b;
};

constexpr int TRIPS = 512;

template <int CHAINS, bool IMMEDIATE>
__global__ void __launch_bounds__(256) chain(const Params* __restrict__ params,
                                             const float* __restrict__ input,
                                             float* __restrict__ output) {
    unsigned index = blockIdx.x * 256u + threadIdx.x;
    if (index >= params->n) return;
    float a = IMMEDIATE ? 0.5f : params->a, b = params->b;
    float v[CHAINS];
    for (int c = 0; c < CHAINS; c++) v[c] = input[index] + c;
    for (int i = 0; i < TRIPS / CHAINS; i++) {
        for (int c = 0; c < CHAINS; c++) v[c] = fmaf(v[c], a, b);
    }
    float sum = 0;
    for (int c = 0; c < CHAINS; c++) sum += v[c];
    output[index] = sum;
}

#define CHECK(call)                                                          \
    do {                                                                     \
        cudaError_t error = (call);                                          \
        if (error != cudaSuccess) {                                          \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));   \
            return 1;                                                        \
        }                                                                    \
    } while (0)

int main() {
    const unsigned n_max = 1u << 24;
    const int repeats = 10, rounds = 40;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    float *input, *output;
    Params* params;
    CHECK(cudaMalloc(&input, n_max * sizeof(float)));
    CHECK(cudaMalloc(&output, n_max * sizeof(float)));
    CHECK(cudaMalloc(&params, sizeof(Params)));
    CHECK(cudaMemset(input, 0, n_max * sizeof(float)));
    struct {
        const char* name;
        void (*kernel)(const Params*, const float*, float*);
    } all[] = {{"registers", chain<1, false>},
               {"immediate", chain<1, true>},
               {"two_chains", chain<2, false>},
               {"four_chains", chain<4, false>}};
    for (unsigned n : {1u << 16, 1u << 20, n_max}) {
        Params values{n, TRIPS, 0.5f, 1.0f};
        CHECK(cudaMemcpy(params, &values, sizeof values, cudaMemcpyHostToDevice));
        for (auto& way : all) {
            std::vector<float> times;
            for (int round = 0; round < rounds; round++) {
                // The same work goes before, untimed.
                for (int i = 0; i < repeats; i++) way.kernel<<<n / 256, 256>>>(params, input, output);
                CHECK(cudaEventRecord(begin));
                for (int i = 0; i < repeats; i++) way.kernel<<<n / 256, 256>>>(params, input, output);
                CHECK(cudaEventRecord(end));
                CHECK(cudaDeviceSynchronize());
                float milliseconds;
                CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
                times.push_back(milliseconds * 1000 / repeats);
            }
            std::sort(times.begin(), times.end());
            printf("time,%s,%u,%.3f\n", way.name, n, times[rounds / 2]);
        }
    }
    return 0;
}
