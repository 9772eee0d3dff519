/* pliant bench: the papers' tables with ours beside them, measured through the public interface. */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/suggest.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

void app_bench_json_row(bench *b, const char *table)
{
    printf("%s{\"table\":\"%s\"", b->rows ? ",\n  " : "\n  ", table);
    b->rows++;
}

void app_bench_json_times(const char *key, const char *const *names, const double *values,
                          int count)
{
    printf(",\"%s\":{", key);
    for (int i = 0; i < count; i++) {
        printf("%s\"%s\":", i ? "," : "", names[i]);
        if (values[i] >= 0)
            printf("%.6g", values[i]);
        else
            printf("null");
    }
    printf("}");
}

void app_bench_names(const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        printf(" %8s", names[i]);
}

void app_bench_cells(const double *values, int count, int decimals)
{
    for (int i = 0; i < count; i++)
        if (values[i] >= 0)
            printf(" %8.*f", decimals, values[i]);
        else
            printf(" %8s", ".");
}

void app_bench_ratios(const double *ours, const double *paper, int count)
{
    for (int i = 0; i < count; i++)
        if (ours[i] > 0 && paper[i] > 0)
            printf(" %7.1fx", paper[i] / ours[i]);
        else
            printf(" %8s", "");
}

/* ---- The machine ----------------------------------------------------------------------------- */

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

typedef struct machine {
    char processor[128];
    long cores;
} machine;

/* The processor's name as Linux gives it; other systems have none for us. */
static void find_processor(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value) {
            value += strspn(value, ": \t");
            snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    if (file)
        fclose(file);
}

static machine find_machine(void)
{
    machine m;
    find_processor(m.processor, sizeof m.processor);
    m.cores = sysconf(_SC_NPROCESSORS_ONLN);
    return m;
}

static void print_machine(const bench *b)
{
    machine m = find_machine();
    printf("machine    %s, %ld core%s; %d thread%s, vectors of %d floats; pliant %s, %s\n",
           m.processor, m.cores, m.cores == 1 ? "" : "s", b->threads, b->threads == 1 ? "" : "s",
           pl_simd_width(), pl_version(), COMPILER);
}

static void print_machine_json(const bench *b)
{
    machine m = find_machine();
    printf("{\"machine\":{\"processor\":");
    app_print_json_string(m.processor);
    printf(",\"cores\":%ld,\"threads\":%d,\"simd\":%d,\"version\":", m.cores, b->threads,
           pl_simd_width());
    app_print_json_string(pl_version());
    printf(",\"compiler\":");
    app_print_json_string(COMPILER);
    printf("},\"quick\":%s,\n \"rows\":[", b->quick ? "true" : "false");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *about;
    pl_status (*print)(bench *b);
} tables[] = {
    {"frames", "Choi & Lee, Table 1: its scenes, milliseconds per frame (the default)",
     app_table_frames},
    {"iterations", "the same per body and iteration, and what instances side by side gain",
     app_table_iterations},
    {"stiffness", "Choi & Lee, Fig. 3: what iterations and step change, beside shape matching",
     app_table_stiffness},
    {"clusters", "Falkenstein, Table 4.1: compressed beams of clay, milliseconds per frame",
     app_table_clusters},
    {"convergence", "Falkenstein, Fig. 4.2: how far a bar hangs down in more and more clusters",
     app_table_convergence},
    {"examples", "Koyama et al., Table 1: bodies with example poses, milliseconds per step",
     app_table_examples},
    {"tetrahedra",
     "Fukuhara et al., Fig. 5: interpolated rotations, energy over iterations and time",
     app_table_tetrahedra},
};

enum { TABLES = sizeof tables / sizeof *tables };

static int list_tables(const bench *b)
{
    if (b->json)
        printf("[");
    for (int i = 0; i < TABLES; i++) {
        if (!b->json) {
            printf("%-12s %s\n", tables[i].name, tables[i].about);
            continue;
        }
        printf("%s{\"name\":\"%s\",\"about\":", i ? "," : "", tables[i].name);
        app_print_json_string(tables[i].about);
        printf("}");
    }
    if (b->json)
        printf("]\n");
    return app_finish(APP_DONE);
}

static int find_table(const char *name)
{
    const char *best = NULL;
    char hint[96] = "";
    for (int i = 0; i < TABLES; i++)
        if (strcmp(tables[i].name, name) == 0)
            return i;
    for (int i = 0; i < TABLES; i++)
        pl_suggest(name, tables[i].name, &best);
    if (best)
        pl_suggest_text(best, hint, sizeof hint);
    app_usage_error("bench", "there is no table \"%s\"%s", name,
                    best ? hint : "; 'pliant bench --list' names them");
    return -1;
}

static int print_tables(bench *b, int first, int last)
{
    pl_status status = PL_OK;
    int i = first;
    if (b->json)
        print_machine_json(b);
    for (; i <= last && status == PL_OK && !app_signal(); i++) {
        if (!b->json && i > first)
            printf("\n");
        status = tables[i].print(b);
    }
    if (b->json)
        printf("\n ]}\n");
    else if (status == PL_OK && !app_signal())
        print_machine(b);
    if (app_signal())
        fprintf(stderr, "pliant: interrupted\n");
    if (status == PL_OK)
        return app_finish(app_signal() ? 128 + app_signal() : APP_DONE);
    fprintf(stderr, "pliant: the table \"%s\" failed: %s\n", tables[i - 1].name,
            pl_status_text(status));
    return app_finish(APP_FAILED);
}

static int bench_command(int argc, char **argv)
{
    bench b = {.threads = 1};
    bool list = false;
    app_list words = {0};
    const app_option options[] = {
        {"list", 'l', APP_FLAG, &list, 0, 0, NULL, "name the tables"},
        {"json", 0, APP_FLAG, &b.json, 0, 0, NULL, "print an object with the machine and the rows"},
        {"quick", 0, APP_FLAG, &b.quick, 0, 0, NULL, "fewer frames and repetitions: seconds"},
        {"threads", 't', APP_INTEGER, &b.threads, 1, 1024, "N", "threads (default 1)"},
        {0},
    };
    int result = app_parse(&app_bench_command, options, argc, argv, &words, 1);
    if (result >= 0)
        return result;
    if (list)
        return list_tables(&b);
    if (words.count && strcmp(words.items[0], "all") == 0)
        return print_tables(&b, 0, TABLES - 1);
    int only = words.count ? find_table(words.items[0]) : 0;
    return only < 0 ? APP_BAD_INPUT : print_tables(&b, only, only);
}

const app_command app_bench_command = {
    .name = "bench",
    .usage = "[TABLE] [OPTIONS]",
    .summary = "the papers' tables, ours beside theirs",
    .details = "Tables:\n"
               "  frames      Choi & Lee, Table 1: its scenes, milliseconds per frame (default)\n"
               "  iterations  the same per body and iteration, for several instances\n"
               "  stiffness   Choi & Lee, Fig. 3: what iterations and step change\n"
               "  clusters    Falkenstein, Table 4.1: compressed beams of clay\n"
               "  convergence Falkenstein, Fig. 4.2: a bar in more and more clusters\n"
               "  examples    Koyama et al., Table 1: bodies with example poses\n"
               "  tetrahedra  Fukuhara et al., Fig. 5: interpolated rotations\n"
               "  all         all of them",
    .run = bench_command,
};
