/* Plans that need no workspace. */
#include <stddef.h>

int cufftXtMakePlanMany(int plan, int rank, void *n, void *in, long is, long id, int it, void *on, long os, long od, int ot,
                        long batch, size_t *size, int execution) { *size = 0; return 0; }
