package load

import (
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/parleyhq/parley"
)

// board is memory that the processes of a run share: the phase, how many
// messages senders have claimed, and how many each receiver has got. It is the
// only thing that they tell each other while it counts.
type board struct {
	words  []atomic.Uint64
	unmap  func() error
	counts []atomic.Uint64 // of each receiver: messages received
	before []atomic.Uint64 // of each receiver: those that came before anything was sent
}

// The words before the counts, each in a cache line of its own.
const (
	lineWords    = 8
	phaseWord    = 0 * lineWords
	claimedWord  = 1 * lineWords // messages sent, or about to be
	writtenWord  = 2 * lineWords // messages sent
	forgivenWord = 3 * lineWords // messages that are no longer waited for
	headWords    = 4 * lineWords
)

// phase says what a run is doing.
type phase uint64

// The phases, in their order. Latencies are taken in the measured ones, which
// lie between warming and stopped.
const (
	waiting phase = iota
	warming
	measured // the first; further ones follow
)

const stopped phase = 1 << 32 // nothing new is sent

func makeBoard(path string, receivers int) (*board, error) {
	size := int64(headWords+2*receivers) * 8
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	return mapBoard(f, size)
}

func openBoard(path string) (*board, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < headWords*8 || info.Size()%8 != 0 {
		return nil, parley.Errorf(parley.InvalidArgument, "%s is no board", path)
	}
	return mapBoard(f, info.Size())
}

func mapBoard(f *os.File, size int64) (*board, error) {
	mem, unmap, err := mapShared(f, int(size))
	if err != nil {
		return nil, err
	}
	// A mapping starts at a page, so that every word is aligned.
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[0])), len(mem)/8)
	n := (len(words) - headWords) / 2
	return &board{words: words, unmap: unmap, counts: words[headWords : headWords+n], before: words[headWords+n:]}, nil
}

func (b *board) close() error { return b.unmap() }

func (b *board) phase() phase     { return phase(b.words[phaseWord].Load()) }
func (b *board) enter(p phase)    { b.words[phaseWord].Store(uint64(p)) }
func (b *board) claimed() uint64  { return b.words[claimedWord].Load() }
func (b *board) written() uint64  { return b.words[writtenWord].Load() }
func (b *board) wrote(n int)      { b.words[writtenWord].Add(uint64(n)) }
func (b *board) forgive(n uint64) { b.words[forgivenWord].Add(n) }

// claimAny claims n messages whatever has become of those before.
func (b *board) claimAny(n int) { b.words[claimedWord].Add(uint64(n)) }

// claim claims up to most messages, as many as the window has room for.
func (b *board) claim(window, most int) int {
	for {
		claimed := b.claimed()
		n := min(most, window-b.outstanding(claimed))
		if n <= 0 {
			return 0
		}
		if b.words[claimedWord].CompareAndSwap(claimed, claimed+uint64(n)) {
			return n
		}
	}
}

// outstanding is how many of the claimed messages the slowest receiver lacks.
func (b *board) outstanding(claimed uint64) int {
	done := b.slowest() + b.words[forgivenWord].Load()
	if done >= claimed {
		return 0
	}
	return int(claimed - done)
}

// slowest is how many messages every receiver has got.
func (b *board) slowest() uint64 {
	if len(b.counts) == 0 {
		return b.written()
	}
	least := ^uint64(0)
	for i := range b.counts {
		least = min(least, b.received(i))
	}
	return least
}

// deliveries is how many messages all receivers have got together.
func (b *board) deliveries() (sum uint64) {
	for i := range b.counts {
		sum += b.received(i)
	}
	return sum
}

// received is how many messages receiver i has got since begin.
func (b *board) received(i int) uint64 { return b.counts[i].Load() - b.before[i].Load() }

// begin has receivers count from here: what came before was something else, as
// news of who has joined.
func (b *board) begin() {
	for i := range b.counts {
		b.before[i].Store(b.counts[i].Load())
	}
}
