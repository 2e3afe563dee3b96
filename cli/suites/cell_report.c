/* Reports the outcome of a cell: a line of the table, an object of the JSON. */
#include <stdio.h>
#include <string.h>

#include "cell.h"
#include "../json.h"

static json_object *time_json(json_object *object, const struct suite_time *t) {
    json_object_object_add(object, "seconds", json_object_new_double(t->seconds));
    json_object_object_add(object, "least_seconds", json_object_new_double(t->least));
    json_object_object_add(object, "most_seconds", json_object_new_double(t->most));
    json_object_object_add(object, "wall_seconds", json_object_new_double(t->wall));
    json_object_object_add(object, "runs", json_object_new_int(t->runs));
    json_object_object_add(object, "warmed_up", json_object_new_boolean(t->warmed_up));
    json_object_object_add(object, "phases", json_object_get(t->phases));
    return object;
}

static json_object *text_or_null(const char *text) { return text && *text ? json_object_new_string(text) : NULL; }

/* The requested edge strengths, and the convergence. */
static json_object *strength_json(const distmap_esf *esf, const struct outcome *o, bool timed) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "rho", json_object_new_double(esf->rho));
    json_object_object_add(object, "steps", esf->steps ? json_object_new_int64(esf->steps) : NULL);
    json_object_object_add(object, "tolerance", esf->steps ? NULL : json_object_new_double(esf->tolerance));
    if (timed) {
        json_object_object_add(object, "iterations", json_object_new_int64(o->convergence.iterations));
        json_object_object_add(object, "residual", json_number(o->residual));
    }
    return object;
}

static json_object *cell_json(const struct suite *s, const struct suite_cell *cell, const struct outcome *o,
                              bool timed) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "table", json_object_new_string(cell->table));
    json_object_object_add(object, "row", json_object_new_string(cell->row));
    json_object_object_add(object, "column", json_object_new_string(s->column));
    json_object_object_add(object, "method", json_object_new_string(cell->method));
    json_object_object_add(object, "params", text_or_null(cell->params));
    json_object_object_add(object, "threads", cell->threads ? json_object_new_int(cell->threads) : NULL);
    json_object_object_add(object, "index", json_object_new_boolean(cell->index || s->info->want.index));
    json_object_object_add(object, "shape", json_shape(s->problem.ndim, s->problem.shape));
    json_object_object_add(object, "pattern", json_object_new_string(s->pattern));
    json_object_object_add(object, "density", s->density < 0 ? NULL : json_object_new_double(s->density));
    if (cell->esf.rho > 0)
        json_object_object_add(object, "esf", strength_json(&cell->esf, o, timed));
    json_object_object_add(object, "state", json_object_new_string(o->state));
    json_object_object_add(object, "reason", text_or_null(o->reason));
    if (timed) {
        time_json(object, &o->method.time);
        json_object_object_add(object, "checked_against", text_or_null(o->checked_against));
        json_object_object_add(object, "production_wins",
                               json_object_new_double(o->method.time.seconds / o->best.time.seconds));
    }
    if (o->production) {
        json_object *best = json_object_new_object();
        json_object_object_add(best, "method", json_object_new_string(o->production));
        json_object_object_add(object, "production", time_json(best, &o->best.time));
    }
    return object;
}

static void print_cell(const struct suite *s, const struct suite_cell *cell, const struct outcome *o, bool timed) {
    const double seconds = o->method.time.seconds, best = o->best.time.seconds;
    printf("%-10s %-16s %-25s ", cell->table, s->column, cell->row);
    if (timed)
        printf("%10.3f ms, %10.3f ms wall; ", seconds * 1e3, o->method.time.wall * 1e3);
    else
        printf("%s: %s%s", o->state, o->reason, o->production ? "; " : "");
    if (o->production)
        printf("%s %10.3f ms", o->production, best * 1e3);
    if (timed)
        printf(": %.2f x%s", seconds / best, strcmp(o->state, "wrong") == 0 ? "  WRONG" : "");
    printf("\n");
    fflush(stdout);
}

void cell_give(struct suite *s, const struct suite_cell *cell, const struct outcome *o) {
    const bool timed = !*o->reason;
    json_object_array_add(s->cells, cell_json(s, cell, o, timed));
    s->timed += timed;
    s->not_timed += !timed;
    s->wrong += strcmp(o->state, "wrong") == 0;
    if (!s->options->json && !s->options->quiet)
        print_cell(s, cell, o, timed);
}
