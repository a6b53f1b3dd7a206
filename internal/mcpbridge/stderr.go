package mcpbridge

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/time/rate"
)

// What a server may say on its standard error: the rest is read, so that it
// can go on, and dropped.
const (
	stderrLine   = 4 << 10 // bytes of one line
	stderrPerSec = 50      // lines
	stderrBurst  = 200     // lines
)

// stderr drains a program's standard error.
type stderr struct {
	from *os.File
	mask *strings.Replacer
	to   func(line string) // may be nil
	done chan struct{}     // closed at its end

	mu   sync.Mutex
	said string // the last line that is not blank
}

func (s *stderr) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

func (s *stderr) read() {
	defer close(s.done)
	limit := rate.NewLimiter(stderrPerSec, stderrBurst)
	r := bufio.NewReaderSize(s.from, stderrLine)
	for dropped := 0; ; {
		line, err := readStart(r)
		line = s.mask.Replace(line)
		if line != "" {
			s.mu.Lock()
			s.said = line
			s.mu.Unlock()
			if s.to != nil && limit.Allow() {
				if dropped > 0 {
					s.to(fmt.Sprintf("(%d lines left out)", dropped))
				}
				s.to(line)
				dropped = 0
			} else {
				dropped++
			}
		}
		if err != nil {
			if s.to != nil && dropped > 0 {
				s.to(fmt.Sprintf("(%d lines left out)", dropped))
			}
			return
		}
	}
}

// readStart reads one line and returns as much of it as r buffers.
func readStart(r *bufio.Reader) (string, error) {
	part, err := r.ReadSlice('\n')
	line := string(bytes.ToValidUTF8(bytes.TrimSpace(part), []byte("\uFFFD")))
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return strings.Map(printable, line), err
}

// printable keeps a server from writing escape sequences to our terminal.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
