#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/number.h"

#define SUFFIX ".pliant-part"

enum { BUFFER = 1 << 16, OPEN_OUTPUTS = 16 };

struct pl_output {
    pl_memory *memory;
    int descriptor;
    int slot;            /* in `temporaries`; -1 = written in place */
    int error;           /* errno of the first failure */
    size_t used;         /* bytes of `buffer` */
    char path[PATH_MAX]; /* as the user wrote it */
    char target[PATH_MAX];
    char buffer[BUFFER];
};

/* Names of open temporaries for the signal handler: `in_use` says whether a name may be looked
   at. */
static struct {
    atomic_bool taken, in_use;
    char name[PATH_MAX];
} temporaries[OPEN_OUTPUTS];

/* ---- Reading --------------------------------------------------------------------------------- */

static pl_status fail_errno(pl_trouble *trouble, const char *path, const char *what, int error)
{
    return pl_trouble_set(trouble, PL_ERROR_IO, path, "%s: %s", what, strerror(error));
}

static pl_status read_fully(int descriptor, char *bytes, size_t room, size_t *size)
{
    *size = 0;
    while (*size < room) {
        ssize_t got = read(descriptor, bytes + *size, room - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return PL_ERROR_IO;
        if (got == 0)
            break;
        *size += (size_t)got;
    }
    return PL_OK;
}

/* Pipes have no size beforehand: the buffer doubles until everything fits. */
static pl_status read_all(pl_memory *memory, int descriptor, const char *path, size_t expected,
                          size_t limit, char **bytes, size_t *size, pl_trouble *trouble)
{
    size_t room = expected + 1;
    *size = 0;
    *bytes = NULL;
    for (;;) {
        char *larger = PL_NEW(memory, char, room);
        if (larger && *size)
            memcpy(larger, *bytes, *size);
        pl_memory_free(memory, *bytes);
        *bytes = larger;
        if (!larger)
            return pl_trouble_set(trouble, PL_ERROR_MEMORY, path,
                                  "not enough memory to read this file");
        size_t got;
        if (read_fully(descriptor, *bytes + *size, room - *size, &got) != PL_OK)
            return fail_errno(trouble, path, "cannot be read", errno);
        *size += got;
        if (*size > limit)
            return pl_trouble_set(trouble, PL_ERROR_FORMAT, path, "the file is larger than %zu MiB",
                                  limit >> 20);
        if (*size < room)
            return PL_OK;
        room = room < 4096 ? 8192 : room * 2;
    }
}

pl_status pl_file_read(pl_memory *memory, const char *path, size_t limit, char **bytes,
                       size_t *size, pl_trouble *trouble)
{
    *bytes = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fail_errno(trouble, path, "cannot be opened", errno);
    struct stat info;
    pl_status status = PL_OK;
    if (fstat(descriptor, &info) != 0)
        status = fail_errno(trouble, path, "cannot be read", errno);
    else if (S_ISDIR(info.st_mode))
        status = pl_trouble_set(trouble, PL_ERROR_IO, path, "is a directory; name a file in it");
    else if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > limit)
        status = pl_trouble_set(trouble, PL_ERROR_FORMAT, path, "the file is larger than %zu MiB",
                                limit >> 20);
    else
        status =
            read_all(memory, descriptor, path, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0,
                     limit, bytes, size, trouble);
    close(descriptor);
    if (status != PL_OK) {
        pl_memory_free(memory, *bytes);
        *bytes = NULL;
    }
    return status;
}

/* ---- Temporaries ----------------------------------------------------------------------------- */

static int take_slot(void)
{
    for (int i = 0; i < OPEN_OUTPUTS; i++) {
        bool no = false;
        if (atomic_compare_exchange_strong(&temporaries[i].taken, &no, true))
            return i;
    }
    return -1;
}

static void free_slot(int slot)
{
    atomic_store(&temporaries[slot].in_use, false);
    atomic_store(&temporaries[slot].taken, false);
}

void pl_output_remove_all(void)
{
    for (int i = 0; i < OPEN_OUTPUTS; i++)
        if (atomic_load(&temporaries[i].in_use))
            unlink(temporaries[i].name);
}

/* The directory of a path (with its slash, "" = the current one) and the name in it. */
static const char *split_path(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash + 1 - path) : 0;
    memcpy(directory, path, length);
    directory[length] = 0;
    return slash ? slash + 1 : path;
}

/* Process id in ".NAME.PID.pliant-part", 0 if `entry` is not a temporary of NAME. */
static long temporary_owner(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (entry[0] != '.' || strncmp(entry + 1, name, length) != 0 || entry[length + 1] != '.')
        return 0;
    char *end;
    long owner = strtol(entry + length + 2, &end, 10);
    return owner > 0 && strcmp(end, SUFFIX) == 0 ? owner : 0;
}

/* What a killed run left: temporaries of this output whose process is gone. */
static void remove_stale(const char *target)
{
    char directory[PATH_MAX], path[PATH_MAX];
    const char *name = split_path(target, directory);
    DIR *listing = opendir(directory[0] ? directory : ".");
    if (!listing)
        return;
    for (struct dirent *entry; (entry = readdir(listing));) {
        long owner = temporary_owner(entry->d_name, name);
        if (owner > 0 && kill((pid_t)owner, 0) != 0 && errno == ESRCH &&
            snprintf(path, sizeof path, "%s%s", directory, entry->d_name) < (int)sizeof path)
            unlink(path);
    }
    closedir(listing);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The descriptor that has this name; -1 = none. */
static int standard_stream(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0   ? STDOUT_FILENO
           : strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO
                                              : -1;
}

/* Standard output may be a file that others write to as well: what comes must be put behind
   theirs. */
static int open_in_place(const char *path)
{
    int stream = standard_stream(path);
    return stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
}

/* Where the bytes finally go: links are followed, so that the link stays and its file is
   replaced. */
static pl_status find_target(const char *path, char target[PATH_MAX], bool *in_place,
                             pl_trouble *trouble)
{
    struct stat info;
    *in_place = false;
    if (strlen(path) + 32 >= PATH_MAX)
        return pl_trouble_set(trouble, PL_ERROR_IO, path,
                              "cannot be written: the name is too long");
    strcpy(target, path);
    if (stat(path, &info) != 0)
        return PL_OK;
    if (S_ISDIR(info.st_mode))
        return pl_trouble_set(trouble, PL_ERROR_IO, path, "is a directory; name a file in it");
    *in_place = !S_ISREG(info.st_mode) || standard_stream(path) >= 0;
    if (!*in_place && access(path, W_OK) != 0)
        return fail_errno(trouble, path, "cannot be written", errno);
    char resolved[PATH_MAX];
    if (!*in_place && realpath(path, resolved) && strlen(resolved) + 32 < PATH_MAX)
        strcpy(target, resolved);
    return PL_OK;
}

void pl_output_clean(const char *path)
{
    char target[PATH_MAX];
    bool in_place;
    pl_trouble trouble;
    if (find_target(path, target, &in_place, &trouble) == PL_OK && !in_place)
        remove_stale(target);
}

static pl_status open_temporary(pl_output *output, pl_trouble *trouble)
{
    output->slot = take_slot();
    if (output->slot < 0)
        return pl_trouble_set(trouble, PL_ERROR_IO, output->path,
                              "cannot be written: too many outputs at once");
    char directory[PATH_MAX];
    char *name = temporaries[output->slot].name;
    const char *base = split_path(output->target, directory);
    int length = snprintf(name, PATH_MAX, "%s.%s.%ld" SUFFIX, directory, base, (long)getpid());
    if (length < PATH_MAX) {
        remove_stale(output->target);
        unlink(name);
        output->descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } else {
        errno = ENAMETOOLONG;
    }
    if (output->descriptor < 0) {
        int error = errno;
        free_slot(output->slot);
        return fail_errno(trouble, output->path, "cannot be written", error);
    }
    atomic_store(&temporaries[output->slot].in_use, true);
    return PL_OK;
}

pl_status pl_output_open(pl_memory *memory, const char *path, pl_output **output,
                         pl_trouble *trouble)
{
    *output = NULL;
    pl_output *made = PL_NEW(memory, pl_output, 1);
    if (!made)
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, path,
                              "not enough memory to write this file");
    made->memory = memory;
    made->descriptor = made->slot = -1;
    bool in_place;
    pl_status status = find_target(path, made->target, &in_place, trouble);
    if (status == PL_OK) {
        strcpy(made->path, path);
        if (!in_place) {
            status = open_temporary(made, trouble);
        } else if ((made->descriptor = open_in_place(path)) < 0) {
            status = fail_errno(trouble, path, "cannot be written", errno);
        }
    }
    if (status != PL_OK) {
        pl_memory_free(memory, made);
        return status;
    }
    *output = made;
    return PL_OK;
}

static void flush(pl_output *output)
{
    size_t done = 0;
    while (done < output->used && !output->error) {
        ssize_t wrote = write(output->descriptor, output->buffer + done, output->used - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            output->error = errno;
    }
    output->used = 0;
}

void pl_output_write(pl_output *output, const char *bytes, size_t size)
{
    while (size > 0 && !output->error) {
        size_t piece = BUFFER - output->used < size ? BUFFER - output->used : size;
        memcpy(output->buffer + output->used, bytes, piece);
        output->used += piece;
        bytes += piece;
        size -= piece;
        if (output->used == BUFFER)
            flush(output);
    }
}

void pl_output_patch(pl_output *output, uint64_t offset, const char *bytes, size_t size)
{
    flush(output);
    while (size > 0 && !output->error) {
        ssize_t wrote = pwrite(output->descriptor, bytes, size, (off_t)offset);
        if (wrote >= 0) {
            bytes += wrote;
            size -= (size_t)wrote;
            offset += (uint64_t)wrote;
        } else if (errno != EINTR) {
            output->error = errno;
        }
    }
}

void pl_output_text(pl_output *output, const char *text)
{
    pl_output_write(output, text, strlen(text));
}

void pl_output_printf(pl_output *output, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        pl_output_write(output, text,
                        (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void pl_output_number(pl_output *output, double value)
{
    char text[PL_NUMBER_TEXT];
    if (isfinite(value))
        pl_output_write(output, text, (size_t)pl_number_format(value, text));
    else
        pl_output_text(output, "null");
}

void pl_output_json_string(pl_output *output, const char *text)
{
    pl_output_write(output, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            pl_output_write(output, "\\", 1);
        if (c < 0x20 || c == 0x7F)
            pl_output_printf(output, "\\u%04x", (unsigned)c);
        else
            pl_output_write(output, text, 1);
    }
    pl_output_write(output, "\"", 1);
}

const char *pl_output_part(const pl_output *output)
{
    return output->slot >= 0 ? temporaries[output->slot].name : NULL;
}

bool pl_output_is_good(const pl_output *output)
{
    return output->error == 0;
}

static void close_output(pl_output *output)
{
    if (close(output->descriptor) != 0 && !output->error && errno != EINTR)
        output->error = errno;
    output->descriptor = -1;
}

static void free_output(pl_output *output)
{
    if (output->slot >= 0)
        free_slot(output->slot);
    pl_memory_free(output->memory, output);
}

/* ---- Going on -------------------------------------------------------------------------------- */

pl_status pl_output_set_mark(pl_output *output, pl_output_mark *mark, pl_trouble *trouble)
{
    struct stat info;
    if (output->slot < 0)
        return pl_trouble_set(trouble, PL_ERROR_ARGUMENT, output->path,
                              "is no file, so that nothing could be added to it later");
    flush(output);
    off_t offset = -1;
    if (!output->error && (fdatasync(output->descriptor) != 0 ||
                           (offset = lseek(output->descriptor, 0, SEEK_CUR)) < 0 ||
                           fstat(output->descriptor, &info) != 0))
        output->error = errno;
    if (output->error)
        return fail_errno(trouble, output->path, "cannot be written", output->error);
    *mark = (pl_output_mark){(uint64_t)offset, (uint64_t)info.st_ino};
    return PL_OK;
}

/* The temporary of a mark, left by a process that is gone; false when there is none. */
static bool find_left(const char *target, const pl_output_mark *mark, char path[PATH_MAX])
{
    char directory[PATH_MAX];
    const char *name = split_path(target, directory);
    DIR *listing = opendir(directory[0] ? directory : ".");
    bool found = false;
    if (!listing)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(listing));) {
        struct stat info;
        long owner = temporary_owner(entry->d_name, name);
        /* A process id of our own on it is that of a namesake before us. */
        bool gone =
            owner == (long)getpid() || (owner > 0 && kill((pid_t)owner, 0) != 0 && errno == ESRCH);
        found = gone && snprintf(path, PATH_MAX, "%s%s", directory, entry->d_name) < PATH_MAX &&
                lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
                (uint64_t)info.st_ino == mark->file && (uint64_t)info.st_size >= mark->offset;
    }
    closedir(listing);
    return found;
}

/* Under our name first, so that nobody takes it for abandoned; then shortened. */
static pl_status adopt(pl_output *output, const char *left, uint64_t offset, pl_trouble *trouble)
{
    output->slot = take_slot();
    if (output->slot < 0)
        return pl_trouble_set(trouble, PL_ERROR_IO, output->path,
                              "cannot be written: too many outputs at once");
    char directory[PATH_MAX];
    char *name = temporaries[output->slot].name;
    const char *base = split_path(output->target, directory);
    int length = snprintf(name, PATH_MAX, "%s.%s.%ld" SUFFIX, directory, base, (long)getpid());
    errno = ENAMETOOLONG;
    bool good = length < PATH_MAX && rename(left, name) == 0 &&
                (output->descriptor = open(name, O_WRONLY | O_CLOEXEC)) >= 0 &&
                ftruncate(output->descriptor, (off_t)offset) == 0 &&
                lseek(output->descriptor, (off_t)offset, SEEK_SET) >= 0;
    if (!good) {
        int error = errno;
        if (output->descriptor >= 0)
            close(output->descriptor);
        free_slot(output->slot);
        return fail_errno(trouble, output->path, "cannot be written", error);
    }
    atomic_store(&temporaries[output->slot].in_use, true);
    return PL_OK;
}

pl_status pl_output_resume(pl_memory *memory, const char *path, const pl_output_mark *mark,
                           pl_output **output, pl_trouble *trouble)
{
    *output = NULL;
    pl_output *made = PL_NEW(memory, pl_output, 1);
    if (!made)
        return pl_trouble_set(trouble, PL_ERROR_MEMORY, path,
                              "not enough memory to write this file");
    made->memory = memory;
    made->descriptor = made->slot = -1;
    bool in_place;
    char left[PATH_MAX];
    pl_status status = find_target(path, made->target, &in_place, trouble);
    if (status == PL_OK) {
        strcpy(made->path, path);
        status = !in_place && find_left(made->target, mark, left)
                     ? adopt(made, left, mark->offset, trouble)
                     : pl_trouble_set(trouble, PL_ERROR_FORMAT, path,
                                      "what the earlier run had written is not there any more");
    }
    if (status != PL_OK) {
        pl_memory_free(memory, made);
        return status;
    }
    *output = made;
    return PL_OK;
}

pl_status pl_output_publish(pl_output *output, pl_trouble *trouble)
{
    flush(output);
    close_output(output);
    const char *temporary = output->slot >= 0 ? temporaries[output->slot].name : NULL;
    if (temporary && !output->error && rename(temporary, output->target) != 0)
        output->error = errno;
    pl_status status = PL_OK;
    if (output->error) {
        status = fail_errno(trouble, output->path, "cannot be written", output->error);
        if (temporary)
            unlink(temporary);
    }
    free_output(output);
    return status;
}

void pl_output_leave(pl_output *output)
{
    if (!output)
        return;
    close_output(output);
    free_output(output);
}

void pl_output_drop(pl_output *output)
{
    if (!output)
        return;
    close_output(output);
    if (output->slot >= 0)
        unlink(temporaries[output->slot].name);
    free_output(output);
}
