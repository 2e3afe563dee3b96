/* The device table. A new kind of device is a folder beside cpu/ and cuda/, a declaration and a line here. */
#include "core/internal.h"

extern const dm_device dm_device_cpu;
#ifdef DISTMAP_HAVE_CUDA
extern const dm_device dm_device_cuda;
#endif

const dm_device *const dm_devices[] = {
    &dm_device_cpu,
#ifdef DISTMAP_HAVE_CUDA
    &dm_device_cuda,
#endif
    NULL,
};

distmap_status dm_device_find(distmap_device device, const dm_device **found) {
    for (size_t i = 0; dm_devices[i]; i++)
        if (dm_devices[i]->device == device) {
            *found = dm_devices[i];
            return DISTMAP_OK;
        }
    if (device == DISTMAP_DEVICE_CUDA)
        return dm_error(DISTMAP_ERROR_DEVICE, "device cuda: this library was built without CUDA");
    return dm_error(DISTMAP_ERROR_ARGUMENT, "device is %d, must be CPU or CUDA", (int)device);
}

int distmap_device_count(distmap_device device) {
    const dm_device *found = NULL;
    return dm_device_find(device, &found) == DISTMAP_OK ? found->count() : 0;
}

distmap_status distmap_device_describe_sized(distmap_device device, int ordinal, distmap_device_info *info,
                                             size_t info_bytes) {
    const dm_device *found = NULL;
    TRY(dm_device_find(device, &found));
    const int count = found->count();
    if (count == 0)
        return DISTMAP_ERROR_DEVICE;
    if (ordinal < 0 || ordinal >= count)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "ordinal is %d, there are %d devices of %s", ordinal, count,
                        found->name);
    distmap_device_info made = {0};
    TRY(found->describe(ordinal, &made));
    return distmap_sized_fill("info", info, info_bytes, &made, sizeof made);
}
