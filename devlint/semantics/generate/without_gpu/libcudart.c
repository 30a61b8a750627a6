/* A CUDA runtime without a GPU: two devices whose kernels do nothing.
 *
 * Device memory is an address range the host may not touch, as on a real machine: a CPU kernel that is handed one of
 * its pointers dies. What copies write is kept in a shadow of the same size.
 *
 * PyTorch's CUDA build, loaded over this, runs all of its own host code - the dispatcher, the generated device checks,
 * TensorIterator, the kernel launchers' asserts - and computes nothing. Declarations follow cuda_runtime_api.h and
 * driver_types.h of CUDA 13; every function not defined here answers 0 (cudaSuccess).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DEVICES = 2, MOST = 1 << 16 };
static const size_t LARGEST = (size_t)1 << 32; /* bytes of one block; more is asked for only with a size never computed */
typedef struct { char *start; char *shadow; size_t size; int device; } Block; /* shadow: start itself on the host */
typedef struct { char bytes[16]; } Uuid;

typedef struct {
    char name[256]; Uuid uuid; char luid[8]; unsigned luidDeviceNodeMask; size_t totalGlobalMem; size_t sharedMemPerBlock;
    int regsPerBlock; int warpSize; size_t memPitch; int maxThreadsPerBlock; int maxThreadsDim[3]; int maxGridSize[3];
    size_t totalConstMem; int major; int minor; size_t textureAlignment; size_t texturePitchAlignment;
    int multiProcessorCount; int integrated; int canMapHostMemory; int maxTexture1D; int maxTexture1DMipmap;
    int maxTexture2D[2]; int maxTexture2DMipmap[2]; int maxTexture2DLinear[3]; int maxTexture2DGather[2];
    int maxTexture3D[3]; int maxTexture3DAlt[3]; int maxTextureCubemap; int maxTexture1DLayered[2];
    int maxTexture2DLayered[3]; int maxTextureCubemapLayered[2]; int maxSurface1D; int maxSurface2D[2];
    int maxSurface3D[3]; int maxSurface1DLayered[2]; int maxSurface2DLayered[3]; int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2]; size_t surfaceAlignment; int concurrentKernels; int ECCEnabled; int pciBusID;
    int pciDeviceID; int pciDomainID; int tccDriver; int asyncEngineCount; int unifiedAddressing; int memoryBusWidth;
    int l2CacheSize; int persistingL2CacheMaxSize; int maxThreadsPerMultiProcessor; int streamPrioritiesSupported;
    int globalL1CacheSupported; int localL1CacheSupported; size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor; int managedMemory; int isMultiGpuBoard; int multiGpuBoardGroupID;
    int hostNativeAtomicSupported; int pageableMemoryAccess; int concurrentManagedAccess;
    int computePreemptionSupported; int canUseHostPointerForRegisteredMem; int cooperativeLaunch;
    size_t sharedMemPerBlockOptin; int pageableMemoryAccessUsesHostPageTables; int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor; int accessPolicyMaxWindowSize; size_t reservedSharedMemPerBlock;
    int hostRegisterSupported; int sparseCudaArraySupported; int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported; int memoryPoolsSupported; int gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions; int gpuDirectRDMAWritesOrdering; unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported; int ipcEventSupported; int clusterLaunch; int unifiedFunctionPointers;
    int deviceNumaConfig; int deviceNumaId; int mpsEnabled; int hostNumaId; unsigned gpuPciDeviceID;
    unsigned gpuPciSubsystemID; int hostNumaMultinodeIpcSupported; int reserved[56];
} DeviceProp;
typedef struct { int type; int device; void *devicePointer; void *hostPointer; long reserved[8]; } PointerAttributes;
typedef struct {
    size_t shared, constant, local; int maxThreadsPerBlock; int numRegs; int ptxVersion; int binaryVersion;
    int cacheModeCA; int maxDynamicSharedSizeBytes; int preferredShmemCarveout;
} FuncAttributes;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block blocks[MOST];
static __thread int current;

static int top; /* slots in use are below */

static void *pages(size_t size, int protection) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *got = mmap(NULL, size ? size : 1, protection, flags, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}
static int allocate(void **out, size_t size, int host) {
    *out = NULL;
    if (size > LARGEST) return 2; /* cudaErrorMemoryAllocation */
    char *shadow = pages(size, PROT_READ | PROT_WRITE);
    char *start = host ? shadow : pages(size, PROT_NONE);
    if (!shadow || !start) return 2;
    pthread_mutex_lock(&lock);
    int slot = 0;
    while (slot < MOST - 1 && blocks[slot].start) slot++;
    blocks[slot] = (Block){start, shadow, size ? size : 1, current};
    if (slot >= top) top = slot + 1;
    pthread_mutex_unlock(&lock);
    *out = start;
    return 0;
}
static Block find(const void *p) {
    Block found = {0};
    pthread_mutex_lock(&lock);
    for (int i = 0; i < top && !found.start; i++)
        if (blocks[i].start && (char *)p >= blocks[i].start && (char *)p < blocks[i].start + blocks[i].size)
            found = blocks[i];
    pthread_mutex_unlock(&lock);
    return found;
}
static int release(void *start) {
    pthread_mutex_lock(&lock);
    for (int i = 0; start && i < top; i++)
        if (blocks[i].start == (char *)start) {
            if (blocks[i].shadow != blocks[i].start) munmap(blocks[i].shadow, blocks[i].size);
            munmap(blocks[i].start, blocks[i].size);
            blocks[i].start = NULL;
            break;
        }
    pthread_mutex_unlock(&lock);
    return 0;
}
static char *reach(const void *p) { /* the address at which the host can read and write it */
    Block block = find(p);
    return block.start ? block.shadow + ((char *)p - block.start) : (char *)p;
}
static int answer_zero(void) { return 0; }

int cudaGetDeviceCount(int *n) { *n = DEVICES; return 0; }
int cudaGetDevice(int *d) { *d = current; return 0; }
int cudaSetDevice(int d) { if (d < 0 || d >= DEVICES) return 101; current = d; return 0; }
int cudaDriverGetVersion(int *v) { *v = 13000; return 0; }
int cudaRuntimeGetVersion(int *v) { *v = 13000; return 0; }
int cudaMalloc(void **p, size_t n) { return allocate(p, n, 0); }
int cudaMallocAsync(void **p, size_t n, void *stream) { (void)stream; return allocate(p, n, 0); }
int cudaHostAlloc(void **p, size_t n, unsigned flags) { (void)flags; return allocate(p, n, 1); }
int cudaFree(void *p) { return release(p); }
int cudaFreeAsync(void *p, void *stream) { (void)stream; return release(p); }
int cudaFreeHost(void *p) { return release(p); }
int cudaMemGetInfo(size_t *f, size_t *t) { *f = *t = (size_t)140 << 30; return 0; }
int cudaMemcpy(void *d, const void *s, size_t n, int k) { (void)k; memmove(reach(d), reach(s), n); return 0; }
int cudaMemcpyAsync(void *d, const void *s, size_t n, int k, void *q) { (void)k; (void)q; memmove(reach(d), reach(s), n); return 0; }
int cudaMemcpyPeerAsync(void *d, int dd, const void *s, int sd, size_t n, void *q) {
    (void)dd; (void)sd; (void)q; memmove(reach(d), reach(s), n); return 0;
}
int cudaMemcpy2DAsync(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int k, void *q) {
    (void)k; (void)q;
    char *to = reach(d), *from = reach(s);
    for (size_t i = 0; i < h; i++) memmove(to + i * dp, from + i * sp, w);
    return 0;
}
int cudaMemset(void *p, int v, size_t n) { memset(reach(p), v, n); return 0; }
int cudaMemsetAsync(void *p, int v, size_t n, void *q) { (void)q; memset(reach(p), v, n); return 0; }

int cudaGetDeviceProperties(DeviceProp *p, int d) {
    memset(p, 0, sizeof *p);
    strcpy(p->name, "no GPU (kernels do nothing)");
    p->uuid.bytes[0] = (char)(d + 1);
    p->totalGlobalMem = (size_t)140 << 30; p->sharedMemPerBlock = 49152; p->regsPerBlock = 65536; p->warpSize = 32;
    p->memPitch = 2147483647; p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024; p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647; p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536; p->major = 9; p->minor = 0; p->textureAlignment = 512; p->multiProcessorCount = 132;
    p->concurrentKernels = 1; p->pciBusID = d; p->asyncEngineCount = 3; p->unifiedAddressing = 1;
    p->l2CacheSize = 52428800; p->maxThreadsPerMultiProcessor = 2048; p->sharedMemPerMultiprocessor = 233472;
    p->regsPerMultiprocessor = 65536; p->managedMemory = 1; p->cooperativeLaunch = 1;
    p->sharedMemPerBlockOptin = 232448; p->maxBlocksPerMultiProcessor = 32; p->canMapHostMemory = 1;
    return 0;
}
int cudaDeviceGetAttribute(int *v, int attribute, int d) {
    (void)d;
    switch (attribute) {
    case 1: *v = 1024; break;       /* threads a block */
    case 2: case 3: *v = 1024; break;
    case 4: *v = 64; break;
    case 5: *v = 2147483647; break; /* grid */
    case 6: case 7: *v = 65535; break;
    case 8: *v = 49152; break;      /* shared memory a block */
    case 10: *v = 32; break;        /* warp */
    case 12: *v = 65536; break;
    case 16: *v = 132; break;       /* multiprocessors */
    case 38: *v = 52428800; break;
    case 39: *v = 2048; break;      /* threads a multiprocessor */
    case 75: *v = 9; break;         /* compute capability */
    case 76: *v = 0; break;
    case 81: *v = 233472; break;
    case 82: *v = 65536; break;
    case 97: *v = 232448; break;
    case 106: *v = 32; break;
    default: *v = 0;
    }
    return 0;
}
int cudaDeviceGetPCIBusId(char *out, int n, int d) { snprintf(out, (size_t)n, "0000:%02x:00.0", d); return 0; }
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -3; return 0; }
int cudaDeviceCanAccessPeer(int *v, int a, int b) { (void)a; (void)b; *v = 1; return 0; }
int cudaPointerGetAttributes(PointerAttributes *a, const void *p) {
    memset(a, 0, sizeof *a);
    Block block = find(p);
    a->device = block.start ? block.device : -2;
    a->type = !block.start ? 0 : block.shadow == block.start ? 1 : 2;
    a->devicePointer = block.start ? (void *)p : NULL;
    a->hostPointer = a->type == 1 ? (void *)p : NULL;
    return 0;
}
int cudaFuncGetAttributes(FuncAttributes *a, const void *f) {
    (void)f;
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = 1024; a->numRegs = 32; a->ptxVersion = a->binaryVersion = 90;
    a->maxDynamicSharedSizeBytes = 49152;
    return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int b, size_t s) {
    (void)f; (void)b; (void)s; *n = 2; return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int b, size_t s, unsigned g) {
    (void)f; (void)b; (void)s; (void)g; *n = 2; return 0;
}
static int made(void **out) { return allocate(out, 64, 1); }
int cudaStreamCreate(void **s) { return made(s); }
int cudaStreamCreateWithFlags(void **s, unsigned f) { (void)f; return made(s); }
int cudaStreamCreateWithPriority(void **s, unsigned f, int p) { (void)f; (void)p; return made(s); }
int cudaStreamGetPriority(void *s, int *p) { (void)s; *p = 0; return 0; }
int cudaStreamIsCapturing(void *s, int *v) { (void)s; *v = 0; return 0; }
int cudaStreamGetCaptureInfo(void *s, int *v, unsigned long long *id, void **g, void **d, void **e, size_t *n) {
    (void)s; *v = 0;
    if (id) *id = 0;
    if (g) *g = NULL;
    if (d) *d = NULL;
    if (e) *e = NULL;
    if (n) *n = 0;
    return 0;
}
int cudaEventCreate(void **e) { return made(e); }
int cudaEventCreateWithFlags(void **e, unsigned f) { (void)f; return made(e); }
int cudaEventElapsedTime(float *ms, void *a, void *b) { (void)a; (void)b; *ms = 1; return 0; }
int cudaGetSymbolAddress(void **p, const void *s) { (void)s; return allocate(p, 1 << 16, 0); }
int cudaGetDriverEntryPointByVersion(const char *n, void **f, unsigned v, unsigned long long g, int *status) {
    (void)n; (void)v; (void)g;
    *f = (void *)answer_zero;
    if (status) *status = 0;
    return 0;
}
const char *cudaGetErrorString(int e) { return e == 101 ? "invalid device ordinal" : e == 2 ? "out of memory" : e ? "error" : "no error"; }
const char *cudaGetErrorName(int e) { return e == 101 ? "cudaErrorInvalidDevice" : e == 2 ? "cudaErrorMemoryAllocation" : e ? "cudaErrorUnknown" : "cudaSuccess"; }
void **__cudaRegisterFatBinary(void *f) { (void)f; static void *handle; return &handle; }
unsigned __cudaPushCallConfiguration(void) { return 0; }
