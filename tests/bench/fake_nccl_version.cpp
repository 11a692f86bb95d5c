// Loaded before NCCL: says that it is a version that no program here was built with.
extern "C" int ncclGetVersion(int* version) {
  *version = 29907;
  return 0;
}
