/* A fake of NVIDIA's management library, for tests: the functions that are asked, answered from what `fake_device` sets.
   Negative is "not supported". No NVIDIA code is here; signatures are those of the public documentation. */
#include <stdio.h>
#include <string.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, LOST = 15 };
struct utilization { unsigned gpu, memory; };
struct memory { unsigned long long total, free, used; };
struct device { long long use, used, total, milliwatts, celsius; int lost; };

static struct device devices[4];
static unsigned count;
static int init_status, count_status;
static int opened;

void fake_reset(int init, int counting) { count = 0; init_status = init; count_status = counting; }
void fake_device(long long use, long long used, long long total, long long milliwatts, long long celsius, int lost) {
    devices[count++] = (struct device){use, used, total, milliwatts, celsius, lost};
}
int fake_opened(void) { return opened; }

int nvmlInitWithFlags(unsigned flags) { (void)flags; opened += init_status == OK; return init_status; }
int nvmlShutdown(void) { opened--; return OK; }
const char *nvmlErrorString(int status) { (void)status; return "an error of the fake"; }
int nvmlDeviceGetCount_v2(unsigned *found) { *found = count; return count_status; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
    if (index >= count) return INVALID;
    *handle = &devices[index];
    return devices[index].lost ? LOST : OK;
}
int nvmlDeviceGetName(void *handle, char *name, unsigned length) {
    snprintf(name, length, "Fake %d", (int)((struct device *)handle - devices));
    return OK;
}
int nvmlDeviceGetUtilizationRates(void *handle, struct utilization *found) {
    long long use = ((struct device *)handle)->use;
    *found = (struct utilization){(unsigned)use, 0};
    return use < 0 ? NOT_SUPPORTED : OK;
}
int nvmlDeviceGetMemoryInfo(void *handle, struct memory *found) {
    struct device *it = handle;
    *found = (struct memory){it->total, it->total - it->used, it->used};
    return it->total < 0 ? NOT_SUPPORTED : OK;
}
int nvmlDeviceGetPowerUsage(void *handle, unsigned *found) {
    long long milliwatts = ((struct device *)handle)->milliwatts;
    *found = (unsigned)milliwatts;
    return milliwatts < 0 ? NOT_SUPPORTED : OK;
}
int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *found) {
    long long celsius = ((struct device *)handle)->celsius;
    (void)sensor;
    *found = (unsigned)celsius;
    return celsius < 0 ? NOT_SUPPORTED : OK;
}
