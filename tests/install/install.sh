#!/usr/bin/env bash
# Installs into an empty folder and builds small programs against what is there, as users do: with pkg-config and with
# find_package, shared and static, in C and in C++. The shared library must export public names alone.
set -euo pipefail

: "${BUILD_DIR:?is set by ctest}" "${PLIANT:?}"
if [[ ! -x $PLIANT ]]; then
    echo "skipped: the command is not built"
    exit 77
fi
cc=${CC:-cc}
cxx=${CXX:-c++}
languages=(c)
if command -v "$cxx" >/dev/null; then
    languages+=(cpp)
else
    echo "no C++ compiler: C alone"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

echo "-- install"
cmake --install "$BUILD_DIR" --prefix "$prefix" >"$work/install.log"
"$prefix/bin/pliant" --version >/dev/null || "$prefix/bin/pliant" --help >/dev/null
test -f "$prefix/share/doc/pliant/LICENSE"
lib=$(dirname "$(find "$prefix" -name libpliant.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib

modules=(pliant)
targets=(pliant::pliant)
static_targets=(pliant::pliant_static)
if [[ -f $lib/pkgconfig/pliant-io.pc ]]; then
    modules+=(pliant-io)
    targets+=(pliant::io)
    static_targets+=(pliant::io_static)
fi

# Every public header alone, twice, and then all of them.
echo "-- headers"
for language in "${languages[@]}"; do
    compiler=$cc
    standard=c11
    [[ $language == c ]] || { compiler=$cxx; standard=c++11; }
    for header in "$prefix"/include/pliant/*.h; do
        name=pliant/$(basename "$header")
        printf '#include <%s>\n#include <%s>\n' "$name" "$name" >"$work/alone.$language"
        "$compiler" -std=$standard -Wall -Wextra -Werror -pedantic -I"$prefix/include" -fsyntax-only \
            "$work/alone.$language"
    done
    {
        (cd "$prefix/include" && printf '#include <%s>\n' pliant/*.h)
        printf '#include <string.h>\n'
        printf 'int main(void)\n{\n    return strcmp(pl_status_text(PL_OK), "") == 0;\n}\n'
    } >"$work/consumer.$language"
done

echo "-- pkg-config"
for language in "${languages[@]}"; do
    compiler=$cc
    [[ $language == c ]] || compiler=$cxx
    # Every library is kept, used or not, so that what it lacks shows.
    # shellcheck disable=SC2046
    "$compiler" -Wl,--no-as-needed "$work/consumer.$language" -o "$work/consumer" \
        $(pkg-config --cflags --libs "${modules[@]}")
    "$work/consumer"
done
archives=()
[[ ! -f $lib/libpliant_io.a ]] || archives+=("$lib/libpliant_io.a")
archives+=("$lib/libpliant.a")
# shellcheck disable=SC2046
"$cc" "$work/consumer.c" -o "$work/consumer" $(pkg-config --cflags pliant) "${archives[@]}" \
    $(pkg-config --static --libs "${modules[@]}" | sed 's/-lpliant[^ ]*//g')
LD_LIBRARY_PATH='' "$work/consumer"

echo "-- find_package"
mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES ${languages[*]/#cpp/CXX})
find_package(pliant REQUIRED)
END
for language in "${languages[@]}"; do
    cat >>"$work/project/CMakeLists.txt" <<END
add_executable(shared_$language ../consumer.$language)
target_link_libraries(shared_$language PRIVATE ${targets[*]})
add_executable(static_$language ../consumer.$language)
target_link_libraries(static_$language PRIVATE ${static_targets[*]})
END
done
sed -i 's/LANGUAGES c/LANGUAGES C/' "$work/project/CMakeLists.txt"
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$work/configure.log"
cmake --build "$work/project/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
for language in "${languages[@]}"; do
    "$work/project/build/shared_$language"
    LD_LIBRARY_PATH='' "$work/project/build/static_$language"
done

echo "-- exported names"
for library in "$lib"/lib*.so; do
    [[ -e $library ]] || continue # a build without shared libraries
    if nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | grep -v '^pl_'; then
        echo "$library exports names that are not ours"
        exit 1
    fi
done
if grep -rl "$BUILD_DIR" "$lib/pkgconfig" "$lib/cmake"; then
    echo "these files name the build tree"
    exit 1
fi
echo "good"
