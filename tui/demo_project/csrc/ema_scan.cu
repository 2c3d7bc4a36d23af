// Exponential moving average along time, one thread a (batch, channel) row.
//
// The scan is sequential in time, so the parallelism is all in the rows: 3 channels x 32 records
// is little for a GPU, but it is one launch instead of one for every sample.

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void ema_forward_kernel(const scalar_t* __restrict__ x,
                                   const scalar_t* __restrict__ alpha,
                                   scalar_t* __restrict__ y,
                                   int rows, int channels, int steps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const scalar_t a = alpha[row % channels];
  scalar_t state = 0;
  for (int t = 0; t < steps; ++t) {
    state += a * (x[row * steps + t] - state);
    y[row * steps + t] = state;
  }
}

// Backward in time: g[t] = grad[t] + (1 - a) * g[t + 1]; dx = a * g; da = sum g * (x - y[t - 1]).
template <typename scalar_t>
__global__ void ema_backward_kernel(const scalar_t* __restrict__ grad,
                                    const scalar_t* __restrict__ x,
                                    const scalar_t* __restrict__ y,
                                    const scalar_t* __restrict__ alpha,
                                    scalar_t* __restrict__ grad_x,
                                    scalar_t* __restrict__ grad_alpha,
                                    int rows, int channels, int steps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const scalar_t a = alpha[row % channels];
  scalar_t carry = 0;
  scalar_t total = 0;
  for (int t = steps - 1; t >= 0; --t) {
    const int i = row * steps + t;
    carry = grad[i] + (1 - a) * carry;
    grad_x[i] = a * carry;
    total += carry * (x[i] - (t > 0 ? y[i - 1] : scalar_t(0)));
  }
  atomicAdd(&grad_alpha[row % channels], total);
}

torch::Tensor ema_forward(torch::Tensor x, torch::Tensor alpha) {
  TORCH_CHECK(x.is_cuda() && x.dim() == 3, "x must be (batch, channels, time) on the GPU");
  const c10::cuda::CUDAGuard guard(x.device());
  auto y = torch::empty_like(x);
  const int rows = x.size(0) * x.size(1);
  const int threads = 64;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ema_forward", [&] {
    ema_forward_kernel<scalar_t>
        <<<(rows + threads - 1) / threads, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), alpha.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
            rows, x.size(1), x.size(2));
  });
  return y;
}

std::vector<torch::Tensor> ema_backward(torch::Tensor grad, torch::Tensor x, torch::Tensor y,
                                        torch::Tensor alpha) {
  const c10::cuda::CUDAGuard guard(x.device());
  auto grad_x = torch::empty_like(x);
  auto grad_alpha = torch::zeros_like(alpha);
  const int rows = x.size(0) * x.size(1);
  const int threads = 64;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ema_backward", [&] {
    ema_backward_kernel<scalar_t>
        <<<(rows + threads - 1) / threads, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            grad.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
            alpha.data_ptr<scalar_t>(), grad_x.data_ptr<scalar_t>(),
            grad_alpha.data_ptr<scalar_t>(), rows, x.size(1), x.size(2));
  });
  return {grad_x, grad_alpha};
}
