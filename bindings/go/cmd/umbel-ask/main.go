// SPDX-License-Identifier: MIT

// Command umbel-ask answers questions about a filter. Keys are lines of hexadecimal digits on standard input; a
// line of the output says yes or no to each. It exits with 2 if it does not read the file, and says why.
//
//	umbel-ask FILE
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"umbel"
)

func main() {
	if len(os.Args) != 2 {
		fail("usage: umbel-ask FILE")
	}
	filter, err := umbel.Open(os.Args[1])
	if err != nil {
		fail(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		key, err := hex.DecodeString(lines.Text())
		if err != nil {
			fail(err)
		}
		found, err := filter.Contains(key)
		if err != nil {
			fail(err)
		}
		fmt.Fprintln(out, map[bool]string{true: "yes", false: "no"}[found])
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
}

func fail(what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(2)
}
