// What a launch costs by how it is submitted, and whether it matters where a kernel's parameters are.
//
//   nvcc -O3 -std=c++17 -fmad=false -arch=sm_90 launches.cu -o launches && ./launches
//
// Lines of values with commas: `launch,kernel,parameters,n,graph,graph after the same,events inside the
// graph,launches one by one`, the last four in microseconds a launch. `nothing` does nothing; `uniform`
// and `branch_by_lane` are those of five_patterns, their parameters in memory, in constant memory, or
// among what the launch is given.

#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct Params {
    unsigned n;
    float a, b, c, d;
};
__constant__ Params held;

enum class From { memory, constant, launch };

template <From from>
__device__ __forceinline__ Params parameters(const Params* pointer, const Params& value) {
    return from == From::memory ? *pointer : from == From::constant ? held : value;
}

__device__ __forceinline__ float chain(float v, float a, float b) {
    for (unsigned i = 0; i < 512u; i++) v = fmaf(v, a, b);
    return v;
}

template <From from>
__global__ void __launch_bounds__(256)
    uniform(const Params* __restrict__ pointer, const float* __restrict__ input,
            float* __restrict__ output, const __grid_constant__ Params value) {
    unsigned index = blockIdx.x * 256u + threadIdx.x;
    Params p = parameters<from>(pointer, value);
    if (index >= p.n) return;
    output[index] = chain(input[index], p.a, p.b);
}

template <From from>
__global__ void __launch_bounds__(256)
    branch_by_lane(const Params* __restrict__ pointer, const float* __restrict__ input,
                   float* __restrict__ output, const __grid_constant__ Params value) {
    unsigned index = blockIdx.x * 256u + threadIdx.x;
    Params p = parameters<from>(pointer, value);
    if (index >= p.n) return;
    float v = input[index];
    if (threadIdx.x % 2 == 0) {
        v = chain(v, p.a, p.b);
    } else {
        v = chain(v, p.c, p.d);
    }
    output[index] = v;
}

__global__ void __launch_bounds__(256)
    nothing(const Params* __restrict__ pointer, const float* __restrict__ input,
            float* __restrict__ output, const __grid_constant__ Params value) {
    if (pointer == nullptr) output[0] = input[0] + value.a;
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
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaEvent_t begin, end, begin_inside, end_inside;
    for (cudaEvent_t* event : {&begin, &end, &begin_inside, &end_inside}) CHECK(cudaEventCreate(event));
    const unsigned n_max = 1u << 24;
    float *input, *output;
    Params* pointer;
    CHECK(cudaMalloc(&input, n_max * sizeof(float)));
    CHECK(cudaMalloc(&output, n_max * sizeof(float)));
    CHECK(cudaMalloc(&pointer, sizeof(Params)));
    CHECK(cudaMemset(input, 0, n_max * sizeof(float)));
    struct {
        const char *name, *from;
        void (*kernel)(const Params*, const float*, float*, const Params);
    } all[] = {{"nothing", "memory", nothing},
               {"uniform", "memory", uniform<From::memory>},
               {"uniform", "constant", uniform<From::constant>},
               {"uniform", "launch", uniform<From::launch>},
               {"branch_by_lane", "memory", branch_by_lane<From::memory>},
               {"branch_by_lane", "constant", branch_by_lane<From::constant>},
               {"branch_by_lane", "launch", branch_by_lane<From::launch>}};
    for (unsigned n : {256u, 1u << 16, 1u << 20, n_max}) {
        Params value{n, 0.5f, 1.0f, 0.25f, 2.0f};
        CHECK(cudaMemcpy(pointer, &value, sizeof value, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpyToSymbol(held, &value, sizeof value));
        const int repeats = n == n_max ? 4 : 100;
        for (auto& one : all) {
            auto launches = [&] {
                for (int i = 0; i < repeats; i++)
                    one.kernel<<<n / 256, 256, 0, stream>>>(pointer, input, output, value);
            };
            cudaGraph_t graph;
            cudaGraphExec_t plain, inside;
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
            launches();
            CHECK(cudaStreamEndCapture(stream, &graph));
            CHECK(cudaGraphInstantiate(&plain, graph, 0));
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
            launches();
            CHECK(cudaEventRecordWithFlags(begin_inside, stream, cudaEventRecordExternal));
            launches();
            CHECK(cudaEventRecordWithFlags(end_inside, stream, cudaEventRecordExternal));
            CHECK(cudaStreamEndCapture(stream, &graph));
            CHECK(cudaGraphInstantiate(&inside, graph, 0));
            std::vector<float> times[4];
            for (int round = 0; round < 30; round++) {
                for (int way = 0; way < 4; way++) {
                    bool within = way == 2;
                    if (way == 1 || way == 3) CHECK(cudaGraphLaunch(plain, stream));
                    if (way == 3) CHECK(cudaGraphLaunch(plain, stream));
                    if (!within) CHECK(cudaEventRecord(begin, stream));
                    if (way == 3) {
                        launches();
                    } else {
                        CHECK(cudaGraphLaunch(within ? inside : plain, stream));
                    }
                    if (!within) CHECK(cudaEventRecord(end, stream));
                    CHECK(cudaStreamSynchronize(stream));
                    float milliseconds;
                    CHECK(cudaEventElapsedTime(&milliseconds, within ? begin_inside : begin,
                                               within ? end_inside : end));
                    times[way].push_back(milliseconds * 1000 / repeats);
                }
            }
            printf("launch,%s,%s,%u", one.name, one.from, n);
            for (auto& way : times) {
                std::sort(way.begin(), way.end());
                printf(",%.3f", way[way.size() / 2]);
            }
            printf("\n");
            CHECK(cudaGraphExecDestroy(plain));
            CHECK(cudaGraphExecDestroy(inside));
        }
    }
    return 0;
}
