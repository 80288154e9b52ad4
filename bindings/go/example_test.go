// SPDX-License-Identifier: MIT

package umbel_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"umbel"
)

// The filter was made by: umbel build -p 1e-6 -o planets.umb planets.txt
func Example() {
	seen, err := umbel.Open("testdata/planets.umb")
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"Mars", "Pluto"} {
		found, _ := seen.ContainsString(name) // in memory: no error
		fmt.Println(name, found)
	}
	// Output:
	// Mars true
	// Pluto false
}

// Of a large filter on a disk only what is needed is read.
func ExampleNew() {
	file, err := os.Open("testdata/planets.umb")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	planets, err := umbel.New(file, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	found, err := planets.Contains([]byte("Venus"))
	fmt.Println(found, err)
	// Output: true <nil>
}

func ExampleFromBytes() {
	_, err := umbel.FromBytes([]byte("not a filter"))
	fmt.Println(err, errors.Is(err, umbel.ErrCorrupt))
	// Output: umbel: magic: damaged or not an umbel file true
}

// The numbers 1, 2 and 3 at 10 bits per key, as NewFilter of corekv makes it.
func ExampleCoreKV() {
	filter := umbel.CoreKV{0x80, 0x20, 0x20, 0x00, 0x08, 0x00, 0x02, 0x80, 6}
	fmt.Println(filter.ContainsNumber(2), filter.ContainsNumber(1<<30))
	// Output: true false
}
