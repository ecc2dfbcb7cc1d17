// Stand-in for <cuda.h>: the one type of the driver interface that device code names.
#pragma once

struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
