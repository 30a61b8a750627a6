/* The driver calls behind kernels compiled at run time. */
#include <stddef.h>

int cuCtxGetCurrent(void **context) { static int made; *context = &made; return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0; *active = 1; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 16 ? 132 : attribute == 39 ? 2048 : attribute == 10 ? 32 : 0;
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n) { *n = 2; return 0; }
int cuModuleLoadData(void **module) { static int made; *module = &made; return 0; }
int cuModuleGetFunction(void **function) { static int made; *function = &made; return 0; }
int cuPointerGetAttribute(void *value) { return 1; }
int cuGetErrorString(int error, const char **text) { *text = "error"; return 0; }
