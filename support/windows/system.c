/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h: Windows 10 1903 or newer. Its manifest makes the program's code page UTF-8, so
 * that all paths are UTF-8 here as elsewhere. */
#include "support/system.h"

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "support/absent.h"
#include "support/beneath.h"

#define OPEN_FLAGS  (_O_BINARY | _O_NOINHERIT)
#define SHARE_ALL   (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define LONGEST     4096
#define LOCK_NAME   ".costmodel-lock"
#define LOCK_FAILED (-1)
#define LOCK_HELD   (-2)

/* Sets a variable of the environment that is not set. */
static void set_default(const char *name, const char *value) {
    if (getenv(name) == NULL) (void)_putenv_s(name, value);
}

void system_prepare_streams(void) {
    HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode = 0;
    (void)_setmode(_fileno(stdin), _O_BINARY);
    (void)_setmode(_fileno(stdout), _O_BINARY);
    (void)_setmode(_fileno(stderr), _O_BINARY);
    if (!GetConsoleMode(console, &mode)) return; /* a file or a pipe */
    if (SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING))
        set_default("TERM", "xterm");
    if (SetConsoleOutputCP(CP_UTF8)) set_default("LANG", "C.UTF-8");
}

bool system_is_terminal(FILE *stream) {
    return _isatty(_fileno(stream)) != 0;
}

void system_terminal_size(FILE *stream, int *ret_columns, int *ret_lines) {
    CONSOLE_SCREEN_BUFFER_INFO info;
    *ret_columns = 0;
    *ret_lines = 0;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(_fileno(stream)), &info)) return;
    *ret_columns = info.srWindow.Right - info.srWindow.Left + 1;
    *ret_lines = info.srWindow.Bottom - info.srWindow.Top + 1;
}

static bool is_folder(const char *path) {
    const DWORD attributes = GetFileAttributesA(path);
    return attributes != INVALID_FILE_ATTRIBUTES &&
           (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

int system_open(const char *path) {
    const int fd = _open(path, _O_RDONLY | OPEN_FLAGS);
    if (fd < 0 && errno == EACCES && is_folder(path)) errno = EISDIR;
    return fd;
}

ptrdiff_t system_read_at(int fd, void *buffer, size_t size, uint64_t offset) {
    if (_lseeki64(fd, (long long)offset, SEEK_SET) < 0) return -1;
    return _read(fd, buffer, size < INT_MAX ? (unsigned)size : INT_MAX);
}

void system_expect_random_reads(int fd) {
    (void)fd;
}

static bool is_separator(char c) {
    return c == '/' || c == '\\';
}

size_t system_folder_length(const char *path) {
    size_t length = strlen(path);
    while (length > 0 && !is_separator(path[length - 1])) length--;
    return length == 0 && path[0] != '\0' && path[1] == ':' ? 2 : length; /* "C:model.onnx" */
}

/* Opens a file or folder for its attributes. */
static HANDLE open_attributes(const char *path) {
    return CreateFileA(path, 0, SHARE_ALL, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
                       NULL);
}

static bool get_identity(const char *path, BY_HANDLE_FILE_INFORMATION *ret) {
    HANDLE file = open_attributes(path);
    if (file == INVALID_HANDLE_VALUE) return false;
    const bool is_known = GetFileInformationByHandle(file, ret) != 0;
    (void)CloseHandle(file);
    return is_known;
}

bool system_is_same_file(const char *path, const char *other) {
    BY_HANDLE_FILE_INFORMATION one;
    BY_HANDLE_FILE_INFORMATION two;
    return get_identity(path, &one) && get_identity(other, &two) &&
           one.dwVolumeSerialNumber == two.dwVolumeSerialNumber &&
           one.nFileIndexHigh == two.nFileIndexHigh && one.nFileIndexLow == two.nFileIndexLow;
}

char *system_resolve(const char *path) {
    return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES ? _fullpath(NULL, path, 0)
                                                               : NULL;
}

int system_make_folder(const char *path, unsigned mode) {
    (void)mode;
    return _mkdir(path);
}

int system_lock_folder(const char *folder) {
    char name[LONGEST];
    const int n = snprintf(name, sizeof name, "%s" LOCK_NAME, folder);
    if (n < 0 || (size_t)n >= sizeof name) return LOCK_FAILED;
    /* No other process opens it; the system deletes it with its handle. */
    HANDLE file = CreateFileA(name, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_SHARING_VIOLATION ? LOCK_HELD : LOCK_FAILED;
    return _open_osfhandle((intptr_t)file, 0);
}

void system_unlock_folder(int lock) {
    if (lock >= 0) (void)_close(lock);
}

bool system_error_text(int error, char *buffer, size_t size) {
    return strerror_s(buffer, size, error) == 0;
}

bool system_error_is_transient(int error) {
    static const int errors[] = {EIO,   EMFILE, ENFILE, ENOMEM,    EAGAIN,
                                 EINTR, EBUSY,  ENOSPC, ETIMEDOUT, ENOBUFS};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i] == error) return true;
    return false;
}

/* There are no streams in memory: the bytes pass through a temporary file. */
bool memory_stream_open(struct memory_stream *stream) {
    *stream = (struct memory_stream){.out = tmpfile()};
    return stream->out != NULL;
}

bool memory_stream_close(struct memory_stream *stream) {
    const long long size =
        ferror(stream->out) == 0 && fflush(stream->out) == 0 ? _ftelli64(stream->out) : -1;
    bool is_read = false;
    if (size >= 0 && fseek(stream->out, 0, SEEK_SET) == 0)
        stream->text = calloc((size_t)size + 1, 1);
    if (stream->text != NULL) {
        stream->size = fread(stream->text, 1, (size_t)size, stream->out);
        is_read = stream->size == (size_t)size;
    }
    (void)fclose(stream->out);
    return is_read;
}

static bool has_parent_step(const char *path) {
    for (const char *at = path; at != NULL; at = strpbrk(at, "/\\")) {
        if (is_separator(*at)) at++;
        if (strncmp(at, "..", 2) == 0 && (is_separator(at[2]) || at[2] == '\0')) return true;
    }
    return false;
}

/* Opens the file and compares its path, all links resolved, with that of the folder. */
int beneath_open(const char *folder, const char *path) {
    char name[LONGEST];
    char above[LONGEST];
    char resolved[LONGEST];
    const int n = snprintf(name, sizeof name, "%s/%s", folder, path);
    errno = EXDEV;
    if (is_separator(path[0]) || strchr(path, ':') != NULL || has_parent_step(path)) return -1;
    errno = ENAMETOOLONG;
    if (n < 0 || (size_t)n >= sizeof name) return -1;
    const int fd = system_open(name);
    if (fd < 0) return -1;
    HANDLE opened = open_attributes(folder);
    const DWORD length = GetFinalPathNameByHandleA(opened, above, LONGEST, 0);
    const DWORD found =
        GetFinalPathNameByHandleA((HANDLE)_get_osfhandle(fd), resolved, LONGEST, 0);
    (void)CloseHandle(opened);
    if (length > 0 && length < LONGEST && found > length && found < LONGEST &&
        memcmp(above, resolved, length) == 0 &&
        (is_separator(above[length - 1]) || is_separator(resolved[length])))
        return fd;
    (void)_close(fd);
    errno = EXDEV;
    return -1;
}

FILE *absent_create(const char *path) {
    const int fd =
        _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | OPEN_FLAGS, _S_IREAD | _S_IWRITE);
    return fd < 0 ? NULL : _fdopen(fd, "wb");
}

int absent_sync(FILE *stream) {
    return _commit(_fileno(stream));
}

int absent_rename(const char *from, const char *to) {
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) return 0;
    errno = GetLastError() == ERROR_ACCESS_DENIED ? EACCES : EIO;
    return -1;
}
