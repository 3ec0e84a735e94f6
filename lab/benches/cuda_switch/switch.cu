// What a jump table costs a subgroup whose lanes jump to different places.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 switch.cu -o switch && ./switch
//
// Lines `form,microseconds`, the best of 20 graphs of 16 launches each, n = 2^20. Each form is the loop
// of `hot_loops/state_machine`: `table` as a switch, which the compiler makes two jump tables in a
// tree; `branches` as comparisons that it cannot make a table of, each of a copy of the state that it
// knows nothing about; `selects` with all arms computed and one chosen. All give the same words.

#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned u32;

enum class Form { table, branches, selects };

__device__ __forceinline__ u32 scramble(u32 seed) {
    u32 a = (seed ^ (seed >> 16)) * 0x7feb352du;
    u32 b = (a ^ (a >> 15)) * 0x846ca68bu;
    return b ^ (b >> 16);
}

// The same number, of which the compiler knows nothing.
__device__ __forceinline__ u32 unknown(u32 value) {
    asm volatile("" : "+r"(value));
    return value;
}

template <Form form>
__device__ __forceinline__ void step(u32& state, u32& words, u32 letter) {
    if (form == Form::table) {
        switch (state) {
            case 0: state = letter > 2 ? 1 : 0; break;
            case 1: state = letter == 7 ? 4 : letter > 1 ? 1 : 2; break;
            case 2: words += 1; state = 3; break;
            case 3: state = letter % 2; break;
            case 4: state = letter != 0 ? 4 : 5; break;
            default: words += 2; state = 0; break;
        }
    } else if (form == Form::branches) {
        if (unknown(state) == 0) {
            state = letter > 2 ? 1 : 0;
        } else if (unknown(state) == 1) {
            state = letter == 7 ? 4 : letter > 1 ? 1 : 2;
        } else if (unknown(state) == 2) {
            words += 1;
            state = 3;
        } else if (unknown(state) == 3) {
            state = letter % 2;
        } else if (unknown(state) == 4) {
            state = letter != 0 ? 4 : 5;
        } else {
            words += 2;
            state = 0;
        }
    } else {
        words += state == 2 ? 1 : state > 4 ? 2 : 0;
        u32 next = 0;
        next = state == 0 ? (letter > 2 ? 1 : 0) : next;
        next = unknown(state) == 1 ? (letter == 7 ? 4 : letter > 1 ? 1 : 2) : next;
        next = unknown(state) == 2 ? 3 : next;
        next = unknown(state) == 3 ? letter % 2 : next;
        next = unknown(state) == 4 ? (letter != 0 ? 4 : 5) : next;
        state = next;
    }
}

template <Form form>
__global__ void __launch_bounds__(256) machine(u32* __restrict__ output) {
    u32 i = blockIdx.x * 256u + threadIdx.x;
    u32 state = 0, words = 0, text = scramble(i);
    for (u32 k = 0; k < 128; k++) {
        text = text * 747796405u + 2891336453u;
        step<form>(state, words, text >> 29);
    }
    output[i] = words;
}

#define CHECK(call)                                                        \
    do {                                                                   \
        cudaError_t error = (call);                                        \
        if (error != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
            return 1;                                                      \
        }                                                                  \
    } while (0)

int main() {
    const u32 n = 1u << 20, launches = 16;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    u32* output;
    CHECK(cudaMalloc(&output, n * sizeof(u32)));
    struct { const char* name; void (*kernel)(u32*); } forms[] = {
        {"table", machine<Form::table>},
        {"branches", machine<Form::branches>},
        {"selects", machine<Form::selects>},
    };
    std::vector<u32> first, words(n);
    for (auto& form : forms) {
        cudaGraph_t graph;
        cudaGraphExec_t made;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (u32 i = 0; i < launches; i++) form.kernel<<<n / 256, 256, 0, stream>>>(output);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&made, graph, 0));
        float best = 1e30f;
        for (u32 run = 0; run < 220; run++) {  // The first 200 bring the clock up.
            CHECK(cudaEventRecord(begin, stream));
            CHECK(cudaGraphLaunch(made, stream));
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaStreamSynchronize(stream));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            if (run >= 200) best = std::min(best, ms);
        }
        CHECK(cudaMemcpy(words.data(), output, n * sizeof(u32), cudaMemcpyDeviceToHost));
        if (first.empty()) first = words;
        if (words != first) {
            fprintf(stderr, "%s gives other words\n", form.name);
            return 1;
        }
        printf("%s,%.2f\n", form.name, best * 1e3f / launches);
    }
    return 0;
}
