package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// A console is where somebody sits. At a terminal what happens is shown above the
// line that is being typed, and the line is kept; elsewhere lines come as they are.
//
// What a line is for is decided when its first letter is typed. A form that comes
// in the middle of a line must not take it for an answer, and an answer to a form
// that is withdrawn meanwhile must not be said to the whole room.
//
// Nothing can take back a read from a keyboard: the goroutine that reads ends with
// its input, or with the program.
type console struct {
	in    io.Reader
	out   io.Writer
	tty   *os.File // what is typed at; nil where that is no terminal
	lines chan typed
	done  chan struct{}

	mu     sync.Mutex
	editor *term.Terminal // nil but between start and close, at a terminal
	before *term.State
	width  int // of the screen, in columns; 0 where nobody knows
	prompt prompt
	typing bool // a line has been begun, at a terminal
	aim    *asked.Ask
	gone   *asked.Ask // the form of a prompt that was taken away, until the end of a line
	goneAt time.Time
}

// prompt is what the next line is for.
type prompt struct {
	text string
	form *asked.Ask // nil is for the room
}

// forTheRoom is where no form is open. No prompt is empty, since an editor paints
// none over an empty one.
var forTheRoom = prompt{text: "> "}

// typed is a line, or why there is none.
type typed struct {
	text string
	form *asked.Ask // that it was begun for
	err  error      // io.EOF, errInterrupt, or what reading failed with
}

// errInterrupt is Ctrl-C, which a terminal in raw mode hands over as a key.
var errInterrupt = errors.New("interrupted")

func newConsole(t *terminal) *console {
	c := &console{in: t.in, out: t.out, lines: make(chan typed), done: make(chan struct{}), prompt: forTheRoom}
	if f, ok := t.in.(*os.File); ok && t.outTTY && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		c.tty = f
	}
	return c
}

// start begins to read. It has to be closed, or else the terminal stays as it is.
func (c *console) start() error {
	if c.tty == nil {
		go c.readPlain()
		return nil
	}
	before, err := term.MakeRaw(int(c.tty.Fd()))
	if err != nil {
		return parley.Errorf(parley.Internal, "the terminal cannot be used: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = before
	c.editor = term.NewTerminal(keyboard{&keys{console: c}, c.out}, c.prompt.text)
	c.resize()
	go c.readKeys(c.editor)
	return nil
}

func (c *console) close() {
	close(c.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.editor == nil {
		return
	}
	c.editor.SetPrompt("")
	_, _ = c.editor.Write(nil) // wipes the prompt
	if c.typing {
		_, _ = io.WriteString(c.out, "\r\n")
	}
	_ = term.Restore(int(c.tty.Fd()), c.before)
	c.editor = nil
}

// Write shows something above the line that is being typed.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.editor == nil {
		return c.out.Write(p)
	}
	c.resize()
	if _, err := c.editor.Write(folded(p, c.width)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// resize follows the window. It is asked each time, since not every system tells.
func (c *console) resize() {
	screen, ok := c.out.(*os.File)
	if !ok {
		return
	}
	if w, h, err := term.GetSize(int(screen.Fd())); err == nil && w > 0 {
		_ = c.editor.SetSize(w, h)
		c.width = w
	}
}

// ask says what the next line is for. A line that has been begun stays what it is.
func (c *console) ask(p prompt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.prompt.form != nil && c.prompt.form != p.form {
		c.gone, c.goneAt = c.prompt.form, time.Now()
	}
	c.prompt = p
	switch {
	case c.editor != nil && !c.typing:
		c.editor.SetPrompt(p.text)
		_, _ = c.editor.Write(nil) // paints it
	case c.tty == nil && c.aim == nil:
		c.aim = p.form
	}
}

// isElsewhere reports whether a line has been begun that is for something else than
// what is asked.
func (c *console) isElsewhere() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.typing && c.aim != c.prompt.form
}

// hand gives a line away, and reports whether others may follow.
func (c *console) hand(l typed) bool {
	select {
	case c.lines <- l:
		return l.err == nil || errors.Is(l.err, errInterrupt) || errors.Is(l.err, errTooLong)
	case <-c.done:
		return false
	}
}

// readKeys hands over line by line what is typed at a terminal.
func (c *console) readKeys(editor *term.Terminal) {
	for {
		text, err := editor.ReadLine()
		if err == nil && len([]rune(text)) >= mostTyped {
			err = errTooLong
		}
		if !c.hand(c.finish(editor, text, err)) {
			return
		}
	}
}

// mostTyped is where a terminal drops what more is typed, or pasted, in characters.
const mostTyped = 4096

var errTooLong = parley.Errorf(parley.InvalidArgument, "a line holds less than %d characters here: this one was cut, and is not used", mostTyped).
	WithHint("parley send chat - takes longer texts")

// finish ends a line, and begins the next one with the prompt that holds by now.
func (c *console) finish(editor *term.Terminal, text string, err error) typed {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := typed{text, c.prompt.form, err}
	if c.typing {
		l.form = c.aim
	}
	c.typing, c.aim, c.gone = false, nil, nil
	editor.SetPrompt(c.prompt.text)
	if errors.Is(err, errInterrupt) {
		_, _ = editor.Write(nil)
	}
	return l
}

// begin is told of keys, and for what they were pressed.
func (c *console) begin(aim *asked.Ask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.typing {
		c.typing, c.aim = true, aim
	}
}

// startled is how long keys go on being meant for a form after it was taken away.
// Who asks something harmless could else take it back as the yes is typed, and have
// it for what comes next.
const startled = time.Second

func (c *console) aimsAt() *asked.Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil && time.Since(c.goneAt) < startled {
		return c.gone
	}
	return c.prompt.form
}

// readPlain hands over the lines of a file or pipe.
func (c *console) readPlain() {
	s := bufio.NewScanner(c.in)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		if !c.hand(typed{text: s.Text()}) {
			return
		}
	}
	err := s.Err()
	switch {
	case err == nil:
		err = io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		err = parley.Errorf(parley.InvalidArgument, "a line of the input is longer than %d MiB", maxLine>>20)
	}
	c.hand(typed{err: err})
}

// maxLine bounds a line of a file or pipe, in bytes.
const maxLine = 1 << 20

// take says what a plain line is for, when its turn comes: since nothing tells when
// it was begun, the first line after a form was withdrawn counts as meant for it.
func (c *console) take(l typed) typed {
	if c.tty != nil {
		return l
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l.form, c.aim = c.aim, c.prompt.form
	return l
}

// settled is told that the form of the prompt has its answer: what follows is for
// what comes next.
func (c *console) settled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tty == nil {
		c.aim = nil
	}
	c.prompt.form = nil
}

// keyboard is what an editor of lines reads from and writes to.
type keyboard struct {
	io.Reader
	io.Writer
}

// keys are those of a terminal in raw mode, handed over up to the end of one line
// at most, so that what is pasted stays what it was pasted for.
type keys struct {
	console *console
	buffer  [256]byte
	rest    []byte
	aim     *asked.Ask // what rest was typed for
}

const (
	ctrlC     = 0x03
	eraseLine = "\x05\x15" // Ctrl-E, Ctrl-U
)

func (k *keys) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		n, err := k.console.in.Read(k.buffer[:])
		if n == 0 {
			return 0, err
		}
		k.rest, k.aim = k.buffer[:n], k.console.aimsAt()
	}
	if k.rest[0] == ctrlC {
		k.rest = k.rest[1:]
		return copy(p, eraseLine), errInterrupt
	}
	n := copy(p, k.rest[:lineEnd(k.rest)])
	k.rest = k.rest[n:]
	k.console.begin(k.aim)
	return n, nil
}

// lineEnd is how many keys belong to the present line.
func lineEnd(b []byte) int {
	for i, key := range b {
		switch {
		case key == ctrlC:
			return i
		case key == '\r' && i+1 < len(b) && b[i+1] == '\n':
			return i + 2
		case key == '\r' || key == '\n':
			return i + 1
		}
	}
	return len(b)
}
