/* What PyTorch asks of cuDNN before it uses it: the version it was compiled against, and sizes. */
#include <stddef.h>

int cudnnGetProperty(int which, int *value) { *value = which == 0 ? 9 : which == 1 ? 20 : 0; return 0; }
unsigned long cudnnGetVersion(void) { return 92000; }
unsigned long cudnnGetCudartVersion(void) { return 13000; }
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void *h, int m, int o, void *x, void *z, void *y, void *b,
                                                            void *a, size_t *size) { *size = 0; return 0; }
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *h, int m, int o, void *a, void *x, size_t *size) {
    *size = 0;
    return 0;
}
int cudnnGetRNNWeightSpaceSize(void *h, void *d, size_t *size) { *size = 0; return 0; }
int cudnnGetRNNTempSpaceSizes(void *h, void *d, int m, void *x, size_t *work, size_t *reserve) {
    *work = *reserve = 0;
    return 0;
}
int cudnnBackendGetAttribute(void *d, int name, int type, long count, long *found, void *out) {
    if (found) *found = 0;
    return 0;
}
