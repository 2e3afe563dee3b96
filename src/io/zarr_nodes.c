/* The nodes that an output adds to a store: groups, one array, and what metadata of all of a group's nodes in one place
 * (consolidated: version 2's .zmetadata, a member of version 3's zarr.json) must tell of them.
 *
 * Such a text is written anew beside the old one before the output takes its name, and takes that one's place just after, as a
 * part of the transaction, under whose lock two who add something do not lose each other's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/zarr.h"

void dm_zarr_nodes_free(dm_zarr_nodes *nodes) {
    for (int i = 0; i < nodes->texts; i++) {
        free(nodes->text[i].path);
        free(nodes->text[i].text);
    }
    for (int i = 0; i < nodes->groups; i++)
        dm_output_abort(&nodes->group[i]);
    free(nodes->name);
    *nodes = (dm_zarr_nodes){0};
}

distmap_status dm_zarr_nodes_add(dm_zarr_nodes *nodes, int folder, const char *path, const char *file, char *text) {
    if (!text)
        return dm_no_memory(nodes->name);
    if (nodes->texts == DM_ZARR_TEXTS) {
        free(text);
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: too many groups are to be made", nodes->name);
    }
    nodes->text[nodes->texts++] = (struct dm_zarr_node_text){strdup(path), file, text};
    if (!nodes->text[nodes->texts - 1].path)
        return dm_no_memory(nodes->name);
    return dm_zarr_store(nodes->name, folder, file, text, strlen(text), nodes->synced);
}

distmap_status dm_zarr_nodes_add_group(dm_zarr_nodes *nodes, int folder, const char *path, int version,
                                       json_object *attributes) {
    json_object *group = json_object_new_object();
    dm_json_put(group, "zarr_format", json_object_new_int(version));
    if (version == 3) {
        dm_json_put(group, "node_type", json_object_new_string("group"));
        dm_json_put(group, "attributes", attributes ? attributes : json_object_new_object());
        return dm_zarr_nodes_add(nodes, folder, path, "zarr.json", dm_zarr_finished(group));
    }
    distmap_status status = DISTMAP_OK;
    if (attributes)
        status = dm_zarr_nodes_add(nodes, folder, path, ".zattrs", dm_zarr_finished(attributes));
    char *text = dm_zarr_finished(group);
    if (!status)
        return dm_zarr_nodes_add(nodes, folder, path, ".zgroup", text);
    free(text);
    return status;
}

void dm_zarr_nodes_leave_out(dm_zarr_nodes *nodes, const char *path) {
    const size_t length = strlen(path);
    int kept = 0;
    for (int i = 0; i < nodes->texts; i++) {
        struct dm_zarr_node_text *t = &nodes->text[i];
        if (strlen(t->path) < length) {
            free(t->path);
            free(t->text);
            continue;
        }
        const char *below = t->path + length + (t->path[length] == '/');
        memmove(t->path, below, strlen(below) + 1);
        nodes->text[kept++] = *t;
    }
    nodes->texts = kept;
}

/* ---- Consolidated metadata ---- */

static const char *file_of(int version) { return version == 3 ? "zarr.json" : ".zmetadata"; }

/* The list of nodes in a group's text, or NULL. */
static json_object *list_of(json_object *text, int version) {
    json_object *holder = version == 3 ? dm_zarr_member(text, "consolidated_metadata") : text;
    json_object *list = dm_zarr_member(holder, "metadata");
    return json_object_is_type(list, json_type_object) ? list : NULL;
}

static bool add_texts(const dm_zarr_nodes *nodes, json_object *list, const char *prefix, int version) {
    for (int i = 0; i < nodes->texts; i++) {
        const struct dm_zarr_node_text *t = &nodes->text[i];
        char *key;
        if (asprintf(&key, "%s%s%s%s%s", prefix, *t->path ? "/" : "", t->path, version == 3 ? "" : "/",
                     version == 3 ? "" : t->file) < 0)
            return false;
        json_object *node = dm_json_own(t->text);
        if (node)
            dm_json_put(list, key, node);
        free(key);
        if (!node)
            return false;
    }
    return true;
}

static distmap_status write_text(const dm_commit *commit, dm_output *output, const char *parent, const char *file,
                                 const char *text) {
    char *path;
    if (asprintf(&path, "%s/%s", parent, file) < 0)
        return dm_no_memory(file);
    distmap_status status = dm_output_open(output, path, NULL);
    if (!status)
        status = dm_output_write(output, text, strlen(text));
    if (!status)
        status = dm_output_complete(output, commit->synced);
    free(path);
    return status;
}

/* For the group in `folder`, whose name is `parent`, below which the output is `prefix`. */
static distmap_status consolidate(dm_zarr_nodes *nodes, int folder, const char *parent, const char *prefix, int version,
                                  const dm_commit *commit, bool *has) {
    const dm_input input = {.name = nodes->name};
    json_object *text = NULL;
    TRY(dm_zarr_load(&input, folder, file_of(version), &text));
    json_object *list = list_of(text, version);
    distmap_status status = DISTMAP_OK;
    *has = list != NULL;
    if (list && commit) {
        char *written = add_texts(nodes, list, prefix, version) ? dm_zarr_finished(json_object_get(text)) : NULL;
        status = written ? write_text(commit, &nodes->group[nodes->groups++], parent, file_of(version), written)
                         : dm_no_memory(nodes->name);
        free(written);
    }
    json_object_put(text);
    return status;
}

distmap_status dm_zarr_nodes_consolidate(dm_zarr_nodes *nodes, const char *target, int version, const dm_commit *commit,
                                         bool *any) {
    char *path = strdup(target);
    *any = false;
    if (!path)
        return dm_no_memory(nodes->name);
    distmap_status status = DISTMAP_OK;
    for (char *slash; !status && nodes->groups < DM_ZARR_GROUPS;) {
        bool has = false;
        slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
        const char *parent = !slash ? "." : *path ? path : "/";
        const int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || !dm_zarr_is_node(fd)) {
            if (fd >= 0)
                close(fd);
            break;
        }
        status = consolidate(nodes, fd, parent, target + (slash ? slash - path + 1 : 0), version, commit, &has);
        close(fd);
        *any |= has;
        if (!slash)
            break;
    }
    free(path);
    return status;
}

distmap_status dm_zarr_nodes_take(dm_zarr_nodes *nodes, dm_commit *commit) {
    for (int i = 0; i < nodes->groups; i++)
        TRY(dm_commit_take(commit, &nodes->group[i]));
    return DISTMAP_OK;
}
