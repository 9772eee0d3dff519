/* Shared by the two halves of the JSON reader: line and column of a byte, and writing a path step
   by step. */
#ifndef PL_IO_JSON_PLACE_H
#define PL_IO_JSON_PLACE_H

#include <stddef.h>
#include <stdint.h>

void pl_json_place(const char *text, size_t offset, int *line, int *column);
void pl_json_path_key(char *path, size_t size, const char *key, size_t length);
void pl_json_path_index(char *path, size_t size, uint32_t index);

#endif
