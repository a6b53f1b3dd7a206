package syntax

/*
#include "arena.h"

// The part of tree-sitter's C interface that is used here. Its header belongs
// to another module, where cgo does not look for it; the code is linked from
// there. TestLayout holds the two structures against that module's.
typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;

void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));
TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *);
bool ts_parser_set_language(TSParser *, const TSLanguage *);
void ts_parser_set_timeout_micros(TSParser *, uint64_t);
typedef struct { uint32_t row, column; } TSPoint;
typedef struct {
	void *payload;
	const char *(*read)(void *, uint32_t, TSPoint, uint32_t *);
	int encoding; // 0 is UTF-8
	uint32_t (*decode)(const uint8_t *, uint32_t, int32_t *);
} TSInput;
TSTree *ts_parser_parse(TSParser *, const TSTree *, TSInput);
TSNode ts_tree_root_node(const TSTree *);
uint32_t ts_node_descendant_count(TSNode);
uint16_t ts_node_symbol(TSNode);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
bool ts_node_is_named(TSNode);
bool ts_node_is_missing(TSNode);
bool ts_node_is_error(TSNode);
TSTreeCursor ts_tree_cursor_new(TSNode);
void ts_tree_cursor_delete(TSTreeCursor *);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
bool ts_tree_cursor_goto_parent(TSTreeCursor *);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
uint32_t ts_language_symbol_count(const TSLanguage *);
const char *ts_language_symbol_name(const TSLanguage *, uint16_t);
uint32_t ts_language_field_count(const TSLanguage *);
const char *ts_language_field_name_for_id(const TSLanguage *, uint16_t);

typedef struct {
	uint32_t start, end; // bytes
	uint32_t size;       // nodes of the subtree, this one included
	int32_t parent;
	uint16_t symbol;
	uint8_t field, flags;
} flat_node;

enum { flat_named = 1, flat_error = 2, flat_missing = 4 };
enum { flat_too_many = -1, flat_too_deep = -2 };

// flatten writes the tree in the order of the text, parents first. One call
// across the border to C takes as long as visiting ten nodes on this side.
static int64_t flatten_here(const TSTree *tree, flat_node *out, int64_t room, int64_t deepest) {
	TSTreeCursor at = ts_tree_cursor_new(ts_tree_root_node(tree));
	int64_t n = 0, depth = 0;
	int32_t parent = -1;
	for (;;) {
		if (n == room) { n = flat_too_many; break; }
		TSNode node = ts_tree_cursor_current_node(&at);
		out[n] = (flat_node){
			.start = ts_node_start_byte(node),
			.end = ts_node_end_byte(node),
			.size = 1,
			.parent = parent,
			.symbol = ts_node_symbol(node),
			.field = ts_tree_cursor_current_field_id(&at),
			.flags = (ts_node_is_named(node) ? flat_named : 0) |
				(ts_node_is_error(node) ? flat_error : 0) |
				(ts_node_is_missing(node) ? flat_missing : 0),
		};
		n++;
		if (ts_tree_cursor_goto_first_child(&at)) {
			parent = n - 1;
			if (++depth > deepest) { n = flat_too_deep; break; }
			continue;
		}
		bool ended = false;
		while (!ts_tree_cursor_goto_next_sibling(&at)) {
			if (parent < 0 || !ts_tree_cursor_goto_parent(&at)) { ended = true; break; }
			out[parent].size = n - parent;
			parent = out[parent].parent;
			depth--;
		}
		if (ended) break;
	}
	ts_tree_cursor_delete(&at);
	return n;
}

static uint32_t count_nodes(const TSTree *tree) { return ts_node_descendant_count(ts_tree_root_node(tree)); }

static void use_arenas(void) { ts_set_allocator(arena_malloc, arena_calloc, arena_realloc, arena_free); }

static arena *new_arena(void) { return arena_must(calloc(1, sizeof(arena))); }

// begin returns NULL where the library does not know the grammar's version.
static TSParser *begin(arena *a, const TSLanguage *language) {
	arena_here = a;
	TSParser *p = ts_parser_new();
	if (!ts_parser_set_language(p, language)) p = NULL;
	arena_here = NULL;
	return p;
}

// micros_of is what a clock says, in microseconds.
static int64_t micros_of(clockid_t clock) {
	struct timespec t = {0};
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

// A budget is what a parse may still take: the processor's time, and time. It is
// the former that bounds hostile text, since a busy machine takes none of it.
typedef struct { int64_t work, wait; } budget;

typedef struct { const char *text; uint32_t length; budget end; bool late; } reading;

enum { reading_bytes = 64 << 10 };

// read_on gives the text in pieces, none of which ends within a character, and
// its end when the time is over: a single step of the parser can read all of it,
// and the parser looks at the clock only every hundred steps.
static const char *read_on(void *payload, uint32_t at, TSPoint point, uint32_t *bytes) {
	reading *r = payload;
	(void)point;
	*bytes = 0;
	if (at >= r->length) return NULL;
	r->late = r->late || micros_of(CLOCK_THREAD_CPUTIME_ID) > r->end.work || micros_of(CLOCK_MONOTONIC) > r->end.wait;
	if (r->late) return NULL;
	uint32_t end = r->length;
	if (end - at > reading_bytes) {
		end = at + reading_bytes;
		while ((r->text[end] & 0xc0) == 0x80) end--;
	}
	*bytes = end - at;
	return r->text + at;
}

// go_on parses for a while, takes what it used from the budget, and returns NULL
// where it is not done.
static TSTree *go_on(arena *a, TSParser *p, const char *text, uint32_t length, uint64_t micros, budget *left) {
	int64_t work = micros_of(CLOCK_THREAD_CPUTIME_ID), begun = micros_of(CLOCK_MONOTONIC);
	reading r = {text, length, {work + left->work, begun + left->wait}, false};
	arena_here = a;
	ts_parser_set_timeout_micros(p, micros);
	TSTree *tree = ts_parser_parse(p, NULL, (TSInput){&r, read_on, 0, NULL});
	arena_here = NULL;
	left->work -= micros_of(CLOCK_THREAD_CPUTIME_ID) - work;
	left->wait -= micros_of(CLOCK_MONOTONIC) - begun;
	if (!r.late) return tree;
	left->work = 0; // the tree is of a part of the text
	return NULL;
}

static int64_t flatten(arena *a, const TSTree *tree, flat_node *out, int64_t room, int64_t deepest) {
	arena_here = a;
	int64_t n = flatten_here(tree, out, room, deepest);
	arena_here = NULL;
	return n;
}

// end frees all, the tree too. The parser is ended in order, since scanners of
// grammars have memory of their own.
static void end(arena *a, TSParser *p) {
	arena_here = a;
	if (p != NULL) ts_parser_delete(p);
	arena_here = NULL;
	arena_reset(a);
}
*/
import "C"

import (
	"context"
	"runtime"
	"sync"
	"time"
	"unsafe"

	// Its C code is what the functions above call.
	_ "github.com/tree-sitter/go-tree-sitter"
)

// node is one node of a tree as C writes it.
type node = C.flat_node

const (
	flagNamed   = C.flat_named
	flagError   = C.flat_error
	flagMissing = C.flat_missing
)

// slice is for how long the parser runs before it is asked whether to go on. Tests
// change it.
var slice = 20 * time.Millisecond

// arenas are the memory of parses, one for each processor and two at least. Each
// keeps up to 16 MiB for its next parse. They also have tree-sitter do without
// calls back into Go, which the bindings make for every allocation.
var arenas = sync.OnceValue(func() chan *C.arena {
	C.use_arenas()
	n := max(runtime.GOMAXPROCS(0), 2)
	free := make(chan *C.arena, n)
	for range n {
		free <- C.new_arena()
	}
	return free
})

// parseNodes parses src and returns its nodes. Nothing of C outlives the call
// but memory for the next one.
func parseNodes(ctx context.Context, language unsafe.Pointer, src []byte, patience time.Duration) ([]node, error) {
	var memory *C.arena
	select {
	case memory = <-arenas():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { arenas() <- memory }()
	parser := C.begin(memory, (*C.TSLanguage)(language))
	defer C.end(memory, parser)
	if parser == nil {
		return nil, errGrammar
	}
	tree, err := parseTree(ctx, memory, parser, src, patience)
	if err != nil {
		return nil, err
	}
	count := max(int(C.count_nodes(tree)), 1)
	if count > maxNodes {
		return nil, errTooManyNodes
	}
	for room := count; ; room = min(2*room, maxNodes) {
		nodes := make([]node, room)
		switch n := C.flatten(memory, tree, unsafe.SliceData(nodes), C.int64_t(room), MaxDepth); n {
		case C.flat_too_deep:
			return nil, errTooDeep
		case C.flat_too_many:
			// Where the parser was stopped while it balanced the tree, it counts
			// less than there is.
			if room == maxNodes {
				return nil, errTooManyNodes
			}
		default:
			return nodes[:n], nil
		}
	}
}

// parseTree runs the parser in slices: it remembers where it stopped. Patience is
// the processor's time, so that what is parsed on an idle machine is on a busy
// one, where the context says how long it is waited for.
func parseTree(ctx context.Context, memory *C.arena, parser *C.TSParser, src []byte, patience time.Duration) (*C.TSTree, error) {
	var pin runtime.Pinner // the parser keeps the text between two slices
	defer pin.Unpin()
	text := unsafe.SliceData(src)
	if text != nil {
		pin.Pin(text)
	}
	wait := 1000 * patience // for ever, as good as
	if end, ok := ctx.Deadline(); ok {
		wait = time.Until(end)
	}
	left := C.budget{work: C.int64_t(patience.Microseconds()), wait: C.int64_t(wait.Microseconds())}
	for {
		tree := C.go_on(memory, parser, (*C.char)(unsafe.Pointer(text)), C.uint32_t(len(src)), C.uint64_t(slice.Microseconds()), &left)
		switch err := ctx.Err(); {
		case err != nil:
			return nil, err
		case tree != nil:
			return tree, nil
		case memory.bytes > maxMemory:
			return nil, errTooMuchMemory
		case left.work <= 0 || left.wait <= 0:
			return nil, errTooSlow
		}
	}
}

// symbolNames are the kinds of nodes, by symbol.
func symbolNames(language unsafe.Pointer) []string {
	l := (*C.TSLanguage)(language)
	names := make([]string, C.ts_language_symbol_count(l))
	for i := range names {
		names[i] = C.GoString(C.ts_language_symbol_name(l, C.uint16_t(i)))
	}
	return names
}

// fieldNames are the names of fields, by id; the first is none.
func fieldNames(language unsafe.Pointer) []string {
	l := (*C.TSLanguage)(language)
	names := make([]string, 1+C.ts_language_field_count(l))
	for i := 1; i < len(names); i++ {
		names[i] = C.GoString(C.ts_language_field_name_for_id(l, C.uint16_t(i)))
	}
	return names
}

// The sizes of C's structures, which a test compares.
const (
	sizeofNode   = unsafe.Sizeof(C.TSNode{})
	sizeofCursor = unsafe.Sizeof(C.TSTreeCursor{})
)
