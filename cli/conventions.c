/* The sites of each subcommand without --sites and --threshold: the one table, which --help shows. distmap.h, the man page,
 * docs/command.md and the Python package repeat it; the test cli.meaning compares them line by line.
 *
 * An operation on the inside of a shape measures to the background, which is zero. An operation that spreads objects, or takes them
 * as sets, measures from the elements that are not zero.
 */
#include <stdio.h>

#include "cli.h"

typedef struct convention {
    unsigned bits;    /* of the subcommands whose sites these are */
    bool background;  /* else the objects */
    const char *line; /* command; Python; sites; result */
} convention;

static const convention conventions[] = {
    {0, false, "command                    Python                             sites           result"},
    {EDT | PASS, true,
     "edt, pass                  edt, feature_transform, chamfer    the background  distances, 0 on the background"},
    {EDT, true,
     "edt --signed, or inside    edt(signed=True)                   the background  positive inside the objects"},
    {EDT, true,
     "edt --signed outside       signed_distance                    the background  negative inside the objects, as in "
     "ITK"},
    {SKELETON | THICKNESS, true,
     "skeleton, thickness        skeleton, local_thickness          the background  of the objects"},
    {VORONOI, false, "voronoi                    expand_labels                      the objects     spread from them"},
    {ESF, false, "esf                        esf                                the objects     1 on them"},
    {MORPH, false, "morph                      dilate, erode, opening, closing    the objects     a set"},
    {COMPARE, false, "compare                    compare                            the objects     two sets"},
};
enum { CONVENTIONS = sizeof conventions / sizeof *conventions };

bool sites_are_background(const struct options *options) {
    bool background = false;
    for (int i = 0; i < CONVENTIONS; i++)
        background |= conventions[i].background && conventions[i].bits & options->command->bit;
    return background || (options->command->bit == MORPH && options->labels);
}

bool objects_are_sites(const struct options *options) {
    return options->sites_given ? options->sites.rule != DISTMAP_SITES_ZERO : !sites_are_background(options);
}

void print_conventions(void) {
    printf("\nSites by default (the background: zero, or below --threshold; the objects: all else):\n");
    for (int i = 0; i < CONVENTIONS; i++)
        printf("  %s\n", conventions[i].line);
}
