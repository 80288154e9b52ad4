// SPDX-License-Identifier: MIT

// Command umbel-range asks a filter on a web server and reads only what it needs of the file.
//
//	umbel-range URL TEXT...
//
// It prints yes or no for each text, and at the end, on standard error, how much it read. It exits with 2 if it
// fails. The payload is not compared with its checksums, so a lookup reads a few bytes and not a MiB: use it where
// the transport is trusted.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"umbel"
)

// remote is a file on a web server.
type remote struct {
	url             string
	requests, bytes atomic.Int64
}

// ReadAt implements io.ReaderAt by a range request.
func (r *remote) ReadAt(to []byte, at int64) (int, error) {
	if len(to) == 0 {
		return 0, nil
	}
	request, err := http.NewRequest(http.MethodGet, r.url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", at, at+int64(len(to))-1))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return 0, fmt.Errorf("%s: %s instead of a range", r.url, response.Status)
	}
	r.requests.Add(1)
	n, err := io.ReadFull(response.Body, to)
	r.bytes.Add(int64(n))
	return n, err
}

func sizeOf(url string) (int64, error) {
	response, err := http.Head(url)
	if err != nil {
		return 0, err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ContentLength < 0 {
		return 0, fmt.Errorf("%s: %s, and %d bytes", url, response.Status, response.ContentLength)
	}
	return response.ContentLength, nil
}

func main() {
	if len(os.Args) < 2 {
		fail("usage: umbel-range URL TEXT...")
	}
	file := &remote{url: os.Args[1]}
	size, err := sizeOf(file.url)
	if err != nil {
		fail(err)
	}
	filter, err := umbel.New(file, size, umbel.Unchecked())
	if err != nil {
		fail(err)
	}
	fmt.Fprintf(os.Stderr, "opened: %d requests, %d bytes\n", file.requests.Load(), file.bytes.Load())
	for _, text := range os.Args[2:] {
		found, err := filter.ContainsString(text)
		if err != nil {
			fail(err)
		}
		fmt.Println(map[bool]string{true: "yes", false: "no"}[found])
	}
	fmt.Fprintf(os.Stderr, "in all: %d requests, %d bytes\n", file.requests.Load(), file.bytes.Load())
}

func fail(what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(2)
}
