// Program does what a slim program could break: it grows its stack, collects garbage at every depth, panics and recovers.
package main

import (
	"fmt"
	"runtime"
	"strings"
)

type node struct {
	left, right *node
	name        string
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{name: fmt.Sprint("leaf ", depth)}
	}
	return &node{tree(depth - 1), tree(depth - 1), fmt.Sprint("depth ", depth)}
}

func (n *node) count() int {
	if n == nil {
		return 0
	}
	return len(n.name) + n.left.count() + n.right.count()
}

// deep keeps a pointer in each frame of a stack that is moved as it grows, and collects at its end.
func deep(n int) int {
	mine := &node{name: strings.Repeat("x", n%7)}
	if n == 0 {
		for range 3 {
			runtime.GC()
		}
		return 0
	}
	return deep(n-1) + len(mine.name)
}

func index(at int) (what any, names []string) {
	defer func() {
		what = recover()
		pcs := make([]uintptr, 16)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			names = append(names, f.Function)
		}
	}()
	return []int{1, 2, 3}[at], nil
}

func main() {
	fmt.Println(tree(12).count(), deep(20_000))
	results := make(chan int)
	for i := range 20 {
		go func() { results <- deep(100 * i) }()
	}
	sum := 0
	for range 20 {
		sum += <-results
	}
	fmt.Println(sum)
	fmt.Println(index(7))
	_, file, line, _ := runtime.Caller(0)
	fmt.Println("at", file[strings.LastIndex(file, "/")+1:], line)
}
