// The largest |x| of each row and where it is: one block a row, reduced inside warps first.

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

constexpr int kThreads = 256;
constexpr int kWarp = 32;

__device__ __forceinline__ void keep_larger(float& value, int& place, float other, int at) {
  // Ties go to the earlier sample, as torch.max does on the CPU.
  if (other > value || (other == value && at < place)) {
    value = other;
    place = at;
  }
}

__device__ void warp_peak(float& value, int& place) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    keep_larger(value, place, __shfl_down_sync(0xffffffff, value, offset),
                __shfl_down_sync(0xffffffff, place, offset));
  }
}

__global__ void row_peak_kernel(const float* __restrict__ x, float* __restrict__ values,
                                int64_t* __restrict__ places, int columns) {
  __shared__ float best[kThreads / kWarp];
  __shared__ int best_at[kThreads / kWarp];
  const float* row = x + static_cast<int64_t>(blockIdx.x) * columns;
  float value = -1.0f;
  int place = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) keep_larger(value, place, fabsf(row[i]), i);
  warp_peak(value, place);
  if (threadIdx.x % kWarp == 0) {
    best[threadIdx.x / kWarp] = value;
    best_at[threadIdx.x / kWarp] = place;
  }
  __syncthreads();
  if (threadIdx.x < kWarp) {
    const bool mine = threadIdx.x < kThreads / kWarp;
    value = mine ? best[threadIdx.x] : -1.0f;
    place = mine ? best_at[threadIdx.x] : 0;
    warp_peak(value, place);
    if (threadIdx.x == 0) {
      values[blockIdx.x] = value;
      places[blockIdx.x] = place;
    }
  }
}

std::vector<torch::Tensor> row_peak(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.dim() == 2, "x must be a matrix on the GPU");
  const c10::cuda::CUDAGuard guard(x.device());
  auto input = x.to(torch::kFloat32).contiguous();
  auto values = torch::empty({x.size(0)}, input.options());
  auto places = torch::empty({x.size(0)}, input.options().dtype(torch::kInt64));
  row_peak_kernel<<<x.size(0), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      input.data_ptr<float>(), values.data_ptr<float>(), places.data_ptr<int64_t>(), x.size(1));
  return {values, places};
}
