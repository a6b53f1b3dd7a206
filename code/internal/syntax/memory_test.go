package syntax

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	treesitter "github.com/tree-sitter/go-tree-sitter"

	"github.com/parleyhq/parley/tool"
)

// The structures that are declared here for C must be those of the library that
// is linked.
func TestLayout(t *testing.T) {
	if got, want := sizeofNode, unsafe.Sizeof(treesitter.Node{}); got != want {
		t.Errorf("a TSNode has %d bytes here, %d there", got, want)
	}
	if got, want := sizeofCursor, unsafe.Sizeof(treesitter.TreeCursor{}); got != want {
		t.Errorf("a TSTreeCursor has %d bytes here, %d there", got, want)
	}
}

// Memory of C is freed with every call, also where parsing fails.
func TestMemoryStaysFlat(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	calls := func(n int) {
		for i := range n {
			l := []Language{Python, JavaScript, TypeScript, TSX}[i%4]
			if _, err := Parse(t.Context(), l, "", []byte("def f(a): return g(a, [1, 2]) if a else {}\nclass A { b() { return `${c}`; } }\n")); err != nil {
				t.Fatal(err)
			}
			if i%1000 == 0 {
				Parse(cancelled, l, "", []byte("a"))
				Parse(t.Context(), l, "", []byte(strings.Repeat("a+", MaxDepth+1)+"a"))
			}
		}
	}
	calls(400)
	before := resident(t)
	calls(10_000)
	if grown := resident(t) - before; grown > 16<<20 {
		t.Errorf("10,000 calls grew the process by %d MiB", grown>>20)
	}
}

// A file below all other bounds would take the parser more than a gigabyte, and
// what it took would stay with malloc.
func TestMemoryIsBounded(t *testing.T) {
	before := resident(t)
	_, err := Parse(t.Context(), TypeScript, "", []byte("x"+strings.Repeat("<y", 300_000)))
	if !errors.Is(err, &tool.Error{Code: tool.TooLarge}) {
		t.Errorf("%v, want too_large", err)
	} else if !strings.Contains(err.Error(), "memory") {
		t.Errorf("refused for another reason: %v", err)
	}
	if grown := resident(t) - before; grown > 100<<20 {
		t.Errorf("the process grew by %d MiB", grown>>20)
	}
}

// resident is the process's memory in bytes, C's included.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("only Linux tells how much memory a process has: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
