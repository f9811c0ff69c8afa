// Command jars brings the jars of an Apache Kafka that the comparisons run, and prints where they lie.
package main

import (
	"cmp"
	"fmt"
	"os"

	"grouplab/server/e2e/apache"
)

func main() {
	version := apache.Reference
	if len(os.Args) > 1 {
		version = cmp.Or(os.Args[1], version)
	}
	dir, err := apache.Jars(version)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("Apache Kafka %s: %s\n", version, dir)
}
