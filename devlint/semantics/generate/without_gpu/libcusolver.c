/* Workspaces of no size; everything else answers 0. */
#include <stddef.h>

#define SIX(name) int name(void *h, long a, long b, void *p, long l, int *size) { *size = 0; return 0; }
#define EIGHT(name) int name(void *h, long a, long b, long c, void *p, long l, void *q, int *size) { *size = 0; return 0; }
SIX(cusolverDnSpotrf_bufferSize) SIX(cusolverDnDpotrf_bufferSize)
SIX(cusolverDnCpotrf_bufferSize) SIX(cusolverDnZpotrf_bufferSize)
SIX(cusolverDnSgeqrf_bufferSize) SIX(cusolverDnDgeqrf_bufferSize)
SIX(cusolverDnCgeqrf_bufferSize) SIX(cusolverDnZgeqrf_bufferSize)
SIX(cusolverDnSgetrf_bufferSize) SIX(cusolverDnDgetrf_bufferSize)
EIGHT(cusolverDnSorgqr_bufferSize) EIGHT(cusolverDnDorgqr_bufferSize)
EIGHT(cusolverDnSsyevd_bufferSize) EIGHT(cusolverDnDsyevd_bufferSize)
int cusolverDnXpotrf_bufferSize(void *h, void *p, int u, long n, int t, void *a, long l, int c, size_t *d, size_t *s) {
    *d = *s = 0;
    return 0;
}
int cusolverDnXgeqrf_bufferSize(void *h, void *p, long m, long n, int t, void *a, long l, int u, void *tau, int c,
                                size_t *d, size_t *s) { *d = *s = 0; return 0; }
int cusolverDnXsyevd_bufferSize(void *h, void *p, int z, int u, long n, int t, void *a, long l, int w, void *v, int c,
                                size_t *d, size_t *s) { *d = *s = 0; return 0; }
int cusolverDnSormqr_bufferSize(void *h, int side, int t, int m, int n, int k, void *a, int l, void *tau, void *c, int d,
                                int *size) { *size = 0; return 0; }
