/* Runs a fuzz target over every file of the folders that are named, where there is no fuzzer: the seeds as a test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    uint8_t *data = NULL;
    size_t size = 0;
    if (!fseek(file, 0, SEEK_END) && ftell(file) >= 0) {
        size = (size_t)ftell(file);
        rewind(file);
        data = malloc(size + 1);
    }
    const int read = data && fread(data, 1, size, file) == size;
    fclose(file);
    if (read)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    return read;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (e->d_name[0] != '.')
                count += replay(path);
        }
        if (folder)
            closedir(folder);
    }
    printf("%d files\n", count);
    return count ? 0 : 1;
}
