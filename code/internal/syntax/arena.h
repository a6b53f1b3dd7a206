// An arena holds all that tree-sitter allocates for one parse. It is given back
// as a whole: that is faster than piece by piece, and leaves nothing behind.
//
// The library has one allocator for the process, so the arena is the thread's
// for as long as the call from Go is on it. Without one, memory comes from
// malloc, as it would otherwise.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum {
	arena_classes = 32,            // of small pieces, in steps of 16 bytes
	arena_chunk_bytes = 512 << 10, // that malloc is asked for at once
	arena_spares = 32,             // chunks that are kept for the next parse
	arena_much = 64 << 20,         // bytes that are worth giving back to the system
};

struct arena;

// A head stands before every piece: the bytes that it has room for, and whose
// it is, NULL for malloc's.
typedef struct { size_t room; struct arena *owner; } arena_head;

// Large pieces are malloc's too, and in a list, so that none is forgotten.
typedef struct arena_large { struct arena_large *before, *next; arena_head head; } arena_large;

typedef struct arena_unused { struct arena_unused *next; } arena_unused;
typedef struct arena_chunk { struct arena_chunk *next; size_t pad; } arena_chunk;

typedef struct arena {
	char *at, *end; // of the chunk that pieces are taken from
	arena_chunk *chunks, *spare;
	arena_large *large;
	arena_unused *unused[arena_classes];
	size_t bytes, most; // taken from malloc now, and at the worst time of this parse
} arena;

static _Thread_local arena *arena_here;

static arena_head *arena_head_of(void *p) { return (arena_head *)p - 1; }
static arena_large *arena_large_of(void *p) { return (arena_large *)p - 1; }
static bool arena_is_small(size_t room) { return room / 16 < arena_classes; }

// Without memory the program ends, as it does in Go.
static void *arena_must(void *p) {
	if (p == NULL) abort();
	return p;
}

static void arena_took(arena *a, size_t bytes) {
	a->bytes += bytes;
	if (a->bytes > a->most) a->most = a->bytes;
}

static void arena_link(arena *a, arena_large *l) {
	arena_took(a, l->head.room);
	l->before = NULL;
	l->next = a->large;
	if (a->large != NULL) a->large->before = l;
	a->large = l;
}

static void arena_unlink(arena *a, arena_large *l) {
	a->bytes -= l->head.room;
	if (l->next != NULL) l->next->before = l->before;
	if (l->before != NULL) l->before->next = l->next;
	else a->large = l->next;
}

static void arena_refill(arena *a) {
	arena_chunk *c = a->spare;
	if (c != NULL) a->spare = c->next;
	else c = arena_must(malloc(arena_chunk_bytes));
	arena_took(a, arena_chunk_bytes);
	c->next = a->chunks;
	a->chunks = c;
	a->at = (char *)(c + 1);
	a->end = (char *)c + arena_chunk_bytes;
}

static void *arena_small(arena *a, size_t room) {
	arena_unused *u = a->unused[room / 16];
	if (u != NULL) {
		a->unused[room / 16] = u->next;
		return u;
	}
	size_t whole = sizeof(arena_head) + room;
	if ((size_t)(a->end - a->at) < whole) arena_refill(a);
	arena_head *h = (arena_head *)a->at;
	a->at += whole;
	*h = (arena_head){room, a};
	return h + 1;
}

static void *arena_malloc(size_t n) {
	if (n > SIZE_MAX / 2) abort();
	size_t room = n == 0 ? 16 : (n + 15) & ~(size_t)15;
	arena *a = arena_here;
	if (a == NULL) {
		arena_head *h = arena_must(malloc(sizeof(arena_head) + room));
		*h = (arena_head){room, NULL};
		return h + 1;
	}
	if (arena_is_small(room)) return arena_small(a, room);
	arena_large *l = arena_must(malloc(sizeof(arena_large) + room));
	l->head = (arena_head){room, a};
	arena_link(a, l);
	return l + 1;
}

static void *arena_calloc(size_t n, size_t size) {
	if (size != 0 && n > SIZE_MAX / 2 / size) abort();
	return memset(arena_malloc(n * size), 0, n * size);
}

static void arena_free(void *p) {
	if (p == NULL) return;
	arena_head *h = arena_head_of(p);
	arena *a = h->owner;
	if (a == NULL) {
		free(h);
	} else if (arena_is_small(h->room)) {
		arena_unused *u = p;
		u->next = a->unused[h->room / 16];
		a->unused[h->room / 16] = u;
	} else {
		arena_unlink(a, arena_large_of(p));
		free(arena_large_of(p));
	}
}

static void *arena_realloc(void *p, size_t n) {
	if (p == NULL) return arena_malloc(n);
	size_t room = arena_head_of(p)->room;
	if (n <= room) return p;
	void *q = arena_malloc(n);
	memcpy(q, p, room);
	arena_free(p);
	return q;
}

// arena_trim hands what free has collected to the system: malloc keeps it.
static void arena_trim(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

// arena_reset gives back everything, whoever forgot it, but for some chunks.
static void arena_reset(arena *a) {
	bool much = a->most > arena_much;
	while (a->large != NULL) {
		arena_large *l = a->large;
		a->large = l->next;
		free(l);
	}
	arena_chunk *used = a->chunks, *spare = NULL;
	int kept = 0;
	for (int round = 0; round < 2; round++) {
		while (used != NULL) {
			arena_chunk *c = used;
			used = c->next;
			if (kept < arena_spares) {
				c->next = spare;
				spare = c;
				kept++;
			} else {
				free(c);
			}
		}
		used = a->spare;
		a->spare = NULL;
	}
	*a = (arena){.spare = spare};
	if (much) arena_trim();
}
