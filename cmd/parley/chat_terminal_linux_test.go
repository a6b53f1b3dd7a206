package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/parleyhq/parley/parleytest"
)

// openTerminal makes a pair: what a person types at and looks at, and what a program
// takes for its terminal.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	var number, locked uint32
	control(t, person, syscall.TIOCGPTN, unsafe.Pointer(&number))
	control(t, person, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

func control(t *testing.T, f *os.File, call uintptr, at unsafe.Pointer) {
	t.Helper()
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), call, uintptr(at)); err != 0 {
		t.Fatal(err)
	}
}

// settings are how a terminal treats what is typed.
func settings(t *testing.T, f *os.File) (s syscall.Termios) {
	t.Helper()
	control(t, f, syscall.TCGETS, unsafe.Pointer(&s))
	return s
}

// seated is somebody at a terminal.
type seated struct {
	*testing.T
	screen
	terminal *os.File
	cmd      *exec.Cmd
}

// sitsAtTerminal lets you take part at a terminal of your own, by the whole program.
func sitsAtTerminal(t *testing.T, g *parleytest.Gateway, program, terminal *os.File) *seated {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(g.Token("you")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("parley", "chat", "--plain", "--url", g.URL, "--space", g.Space, "--token-file", token)
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	s := &seated{T: t, terminal: terminal, cmd: cmd}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shown := make(chan struct{})
	go func() { defer close(shown); io.Copy(&s.screen, terminal) }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		program.Close() // the last one who holds it: now nothing more can be read
		<-shown
	})
	s.await(t, `you are you in demo`)
	s.await(t, `> `)
	return s
}

func (s *seated) types(keys string) {
	s.Helper()
	if _, err := io.WriteString(s.terminal, keys); err != nil {
		s.Fatal(err)
	}
}

const enterKey, interruptKey = "\r", "\x03"

// At a terminal a line that has been begun stays what it was, whatever comes: a form
// does not take it for an answer, and the room does not hear what was meant for a form.
func TestChatAtATerminal(t *testing.T) {
	g := parleytest.Start(t, chatters)
	terminal, program := openTerminal(t)
	before := settings(t, program)
	files, you := joins(t, g, "files"), sitsAtTerminal(t, g, program, terminal)

	// A form comes while a line is typed, which is said all the same.
	you.types("hello ev")
	you.await(t, `hello ev`)
	first := asks(t.Context(), files, "one?\x1b[2J\u009b31m\u202e")
	you.await(t, `\| one\?\\u001b\[2J\\u009b31m\\u202e`)
	you.await(t, `\(the line that you have begun is not taken for an answer\)`)
	you.types("erybody" + enterKey)
	you.await(t, `you: hello everybody\r\n`)
	you.await(t, `1/1 text> `)

	// Its answer is edited, sent, and there.
	you.types("wrong\x15by hand" + enterKey)
	you.await(t, `1 text: "by hand"`)
	you.types("yes" + enterKey)
	wants(t, first, `{"action":"accept","content":{"text":"by hand"}}`)
	you.await(t, `Sent\.`)

	// Ctrl-C puts a form away.
	second := asks(t.Context(), files, "two?")
	you.await(t, `\| two\?`)
	you.await(t, `(?s)two\?.*1/1 text> `)
	you.types("half of it" + interruptKey)
	wants(t, second, `{"action":"cancel"}`)
	you.await(t, `Put away\.`)

	// What is typed for a form that goes away is not said, also where it was pasted
	// with more.
	call, giveUp := context.WithCancel(t.Context())
	asks(call, files, "three?")
	you.await(t, `(?s)three\?.*1/1 text> `)
	you.types("my sec")
	you.await(t, `my sec`)
	giveUp()
	you.await(t, `is no longer asked`)
	you.types("ret" + enterKey)
	you.await(t, `That was meant for a form that is gone, and was not sent\.`)
	// A form that comes in the middle of a line is not put away with the line, and what
	// a terminal cuts is not used.
	you.types("half a li")
	you.await(t, `half a li`)
	fourth := asks(t.Context(), files, "four?")
	you.await(t, `(?s)four\?.*is not taken for an answer`)
	you.types(interruptKey)
	you.await(t, `(?s)four\?.*1/1 text> `)
	you.types(strings.Repeat("x", mostTyped+10) + enterKey)
	you.await(t, `this one was cut, and is not used`)
	you.types("whole" + enterKey + "yes" + enterKey)
	wants(t, fourth, `{"action":"accept","content":{"text":"whole"}}`)
	you.await(t, `(?s)four\?.*Sent\.`)
	you.types("bye" + enterKey)
	you.await(t, `you: bye\r\n`)

	// Ctrl-D leaves, and the terminal is as it was.
	you.types("\x04")
	if err := you.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if after := settings(t, program); after != before {
		t.Errorf("the terminal is left as %+v, was %+v", after, before)
	}
	shown, _ := you.look()
	for _, hostile := range []string{"\x1b[2J", "\u009b", "\u202e", "you: my sec"} {
		if strings.Contains(shown, hostile) {
			t.Errorf("%q was shown", hostile)
		}
	}
}

// Somebody at a terminal is shown a link, and can agree to it.
func TestChatShowsLinksAtATerminal(t *testing.T) {
	g := parleytest.Start(t, chatters)
	terminal, program := openTerminal(t)
	you := sitsAtTerminal(t, g, program, terminal)
	files := joins(t, g, "files")
	answer := asksFor(t.Context(), files, `{"mode":"url","message":"Sign in","url":"https://example.com/login"}`)
	you.await(t, `It asks you to open a page of example\.com`)
	you.await(t, `agree, and tell files\? `)
	you.types("yes" + enterKey)
	wants(t, answer, `{"action":"accept"}`)
	you.await(t, `Sent\.`)
	answer = asksFor(t.Context(), files, `{"message":"Where to?","requestedSchema":{"type":"array"}}`)
	you.await(t, `This cannot be shown as a form here`)
	you.await(t, `decline or cancel\? `)
	you.types("decline" + enterKey)
	wants(t, answer, `{"action":"decline"}`)
}

// SIGTERM ends it in order, in the middle of a line.
func TestChatIsEndedAtATerminal(t *testing.T) {
	g := parleytest.Start(t, chatters)
	terminal, program := openTerminal(t)
	before := settings(t, program)
	you := sitsAtTerminal(t, g, program, terminal)
	you.types("half a line")
	you.await(t, `half a line`)
	if err := you.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := you.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if after := settings(t, program); after != before {
		t.Errorf("the terminal is left as %+v, was %+v", after, before)
	}
}
