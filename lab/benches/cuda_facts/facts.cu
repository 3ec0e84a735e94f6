// What CUDA itself says of a device: its limits, how many blocks a multiprocessor holds, and the
// latency of a few instructions by the multiprocessor's own clock.
//
//   nvcc -O3 -arch=native facts.cu -o facts && ./facts
//
// Lines of values with commas. `occupancy,registers,bytes,threads,blocks` is what the calculator of
// `lanescope occupancy` is tested against, and `potential,registers,bytes,threads,blocks` the block size
// that the runtime proposes, with the blocks that fill the device; `cycles,instruction,cycles a link` stands beside the ratios
// of the kernel shuffle/latency, which knows no clock.

#include <cstdio>
#include <cuda_runtime.h>

// Keeps R values alive, so that more registers are needed the larger R is.
template <int R>
__global__ void busy(float* out, int n) {
    extern __shared__ float shared[];
    float v[R];
#pragma unroll
    for (int i = 0; i < R; i++) v[i] = out[i * n + threadIdx.x];
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < R; i++) v[i] = v[i] * v[(i + 1) % R] + v[(i + 7) % R];
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < R; i++) sum += v[i];
    if (n == 12345) shared[threadIdx.x] = sum;
    out[threadIdx.x] = sum + (n == 12345 ? shared[n % 7] : 0);
}

template <int R>
void residency() {
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, busy<R>);
    cudaFuncSetAttribute(busy<R>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
    for (int threads : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024})
        for (int bytes : {0, 1000, 4096, 8192, 16384, 33000, 49152, 100000}) {
            int blocks = -1;
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, busy<R>, threads, bytes);
            printf("occupancy,%d,%d,%d,%d\n", attributes.numRegs, bytes, threads, blocks);
        }
    for (int bytes : {0, 1000, 4096, 8192, 16384, 33000, 49152, 100000}) {
        int grid = -1, threads = -1;
        cudaOccupancyMaxPotentialBlockSize(&grid, &threads, busy<R>, bytes);
        printf("potential,%d,%d,%d,%d\n", attributes.numRegs, bytes, threads, grid);
    }
}

enum Instruction { MULTIPLY_ADD, SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, BALLOT, REDUCE, EXCHANGE, LOAD };

// A chain of 16 links a trip; nothing of it is known before it runs.
template <int I>
__global__ void chain(unsigned* out, const unsigned* table, int trips, unsigned one, float a, float b) {
    __shared__ unsigned shared[64];
    unsigned lane = threadIdx.x, v = lane, source = (lane + one) & 31;
    float f = (float)v;
    long long begin = clock64();
    for (int t = 0; t < trips; t++) {
#pragma unroll
        for (int k = 0; k < 16; k++) {
            if (I == MULTIPLY_ADD) f = f * a + b;
            if (I == SHUFFLE) v = __shfl_sync(~0u, v, source);
            if (I == SHUFFLE_XOR) v = __shfl_xor_sync(~0u, v, one);
            if (I == SHUFFLE_UP) v = __shfl_up_sync(~0u, v, one);
            if (I == BALLOT) v = __ballot_sync(~0u, v < one + 2);
            if (I == REDUCE) v = __reduce_add_sync(~0u, v) >> 5;
            if (I == LOAD) v = table[v];
            if (I == EXCHANGE) {
                shared[(k & 1) * 32 + lane] = v;
                __syncthreads();
                v = shared[(k & 1) * 32 + source];
            }
        }
    }
    long long end = clock64();
    out[lane] = v + (unsigned)f;
    if (lane == 0) ((long long*)(out + 64))[0] = end - begin;
}

// The slope between two lengths, after two rounds of warming up.
template <int I>
void latency(const char* name, unsigned* out, const unsigned* table) {
    const int links = 4096;
    long long cycles[2];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            chain<I><<<1, 32>>>(out, table, (links << i) / 16, 1, 0.5f, 1.0f);
            cudaMemcpy(&cycles[i], out + 64, 8, cudaMemcpyDeviceToHost);
        }
    printf("cycles,%s,%.3f\n", name, (double)(cycles[1] - cycles[0]) / links);
}

__global__ void fill(unsigned* table, unsigned n) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        table[i] = (61 * i + 1) & (n - 1);
}

int main() {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    printf("device,%s,%d.%d\n", p.name, p.major, p.minor);
    printf("limits,multiprocessors,%d\n", p.multiProcessorCount);
    printf("limits,threads,%d\n", p.maxThreadsPerMultiProcessor);
    printf("limits,blocks,%d\n", p.maxBlocksPerMultiProcessor);
    printf("limits,registers,%d\n", p.regsPerMultiprocessor);
    printf("limits,shared_bytes,%zu\n", p.sharedMemPerMultiprocessor);
    printf("limits,reserved_bytes,%zu\n", p.reservedSharedMemPerBlock);
    residency<4>();
    residency<16>();
    residency<48>();
    residency<100>();
    residency<180>();
    unsigned *out, *table;
    const unsigned most = 1u << 26;
    cudaMalloc(&out, 4096);
    cudaMalloc(&table, most * 4ull);
    latency<MULTIPLY_ADD>("multiply_add", out, table);
    latency<SHUFFLE>("shuffle", out, table);
    latency<SHUFFLE_XOR>("shuffle_xor", out, table);
    latency<SHUFFLE_UP>("shuffle_up", out, table);
    latency<BALLOT>("ballot_and_compare", out, table);
    latency<REDUCE>("reduce_and_shift", out, table);
    latency<EXCHANGE>("store_barrier_load", out, table);
    for (unsigned n : {1u << 12, 1u << 20, most}) {
        char name[32];
        fill<<<1024, 256>>>(table, n);
        sprintf(name, "load_of_%u_words", n);
        latency<LOAD>(name, out, table);
    }
    return cudaDeviceSynchronize();
}
