#include <torch/extension.h>

torch::Tensor ema_forward(torch::Tensor x, torch::Tensor alpha);
std::vector<torch::Tensor> ema_backward(torch::Tensor grad, torch::Tensor x, torch::Tensor y,
                                        torch::Tensor alpha);
std::vector<torch::Tensor> row_peak(torch::Tensor x);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("ema_forward", &ema_forward, "Moving average along time (CUDA)");
  m.def("ema_backward", &ema_backward, "Its gradient (CUDA)");
  m.def("row_peak", &row_peak, "Largest magnitude of each row (CUDA)");
}
