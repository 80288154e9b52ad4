# SPDX-License-Identifier: MIT
# A short way to the real build, which is CMake's.  Everything is made below build/.

PREFIX ?= /usr/local
BUILD := build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all
all: $(BUILD)/CMakeCache.txt
	cmake --build $(BUILD) -j $(JOBS)

# The first time without tests, which need more than the library does.
$(BUILD)/CMakeCache.txt:
	cmake -S . -B $(BUILD) -DUMBEL_BUILD_TESTS=OFF
