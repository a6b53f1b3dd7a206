package main

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// scriptCommands are what scripts may say besides testscript's own commands.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":         exits,
		"start":         start,
		"hurry":         hurry,
		"interrupt":     interrupt, // testscript's own stop would end the script
		"eventually":    eventually,
		"crash":         crash,
		"until":         until,
		"capture":       capture,
		"envsubst":      envsubst,
		"nowhere":       nowhere,
		"poke":          poke,
		"for-both":      forBoth,
		"for-each-verb": forEachVerb,
		"dial":          dial,
		"say":           say,
		"hangup":        hangUp,
		"free-port":     freePort,
		"browse":        browse,
	}
}

// patience bounds what a script waits for.
const patience = 60 * time.Second

// exits CODE PROGRAM ARGS… runs a program and wants that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := err.(*exec.ExitError); ok {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// process is a program that was started.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser // nil unless it was dialled
	done chan struct{}  // closed when it has ended
}

type processes map[string]*process

// processesKey finds a script's processes among its values.
type processesKey struct{}

func running(ts *testscript.TestScript) processes { return ts.Value(processesKey{}).(processes) }

// start NAME PROGRAM ARGS… starts a program whose output goes to NAME.out and
// NAME.err.
func start(ts *testscript.TestScript, neg bool, args []string) { launch(ts, neg, args, nil) }

func launch(ts *testscript.TestScript, neg bool, args []string, prepare func(*process)) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME PROGRAM ARGS…, or dial")
	}
	name := args[0]
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	p := &process{cmd: exec.CommandContext(context.Background(), path, args[2:]...), done: make(chan struct{})}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Env = environment(ts)
	out, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer errs.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, errs
	if prepare != nil {
		prepare(p)
	}
	ts.Check(p.cmd.Start())
	go func() { p.cmd.Wait(); close(p.done) }()
	running(ts)[name] = p
	ts.Defer(func() {
		p.cmd.Process.Kill()
		<-p.done
		if text, _ := os.ReadFile(ts.MkAbs(name + ".err")); len(text) > 0 {
			ts.Logf("[%s.err]\n%s", name, text)
		}
	})
}

// environment is the script's own, as far as programs here look at it.
func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TZ", "NO_COLOR", "GORACE", "PARLEY_URL", "PARLEY_TOKEN", "PARLEY_SPACE", "REPO"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// interrupt NAME sends SIGINT and wants exit code 0, or, as "! interrupt",
// another one.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	end(ts, args, syscall.SIGINT)
	if ok := running(ts)[args[0]].cmd.ProcessState.Success(); ok == neg {
		ts.Fatalf("%s ended with %v", args[0], running(ts)[args[0]].cmd.ProcessState)
	}
}

// hurry NAME sends SIGTERM and SIGINT, and wants another exit code than 0.
func hurry(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 1 && running(ts)[args[0]] != nil {
		ts.Check(running(ts)[args[0]].cmd.Process.Signal(syscall.SIGTERM))
	}
	interrupt(ts, true, args)
}

// crash NAME kills a program, which can do nothing about it.
func crash(ts *testscript.TestScript, _ bool, args []string) { end(ts, args, syscall.SIGKILL) }

func end(ts *testscript.TestScript, args []string, signal os.Signal) {
	if len(args) != 1 || running(ts)[args[0]] == nil {
		ts.Fatalf("%q was not started", args)
	}
	p := running(ts)[args[0]]
	ts.Check(p.cmd.Process.Signal(signal))
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end", args[0])
	}
}

// until FILE REGEXP waits until a file says so. It also ends, in vain, when a
// program that was started for it has ended.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: until FILE REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	late := time.After(patience)
	p := running(ts)[strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))]
	for {
		ended := false
		if p != nil {
			select {
			case <-p.done:
				ended = true
			default:
			}
		}
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && re.Match(text) {
			return
		}
		if ended {
			ts.Fatalf("%s has ended and %s does not say %s:\n%s", args[0], args[0], args[1], text)
		}
		select {
		case <-look.C:
		case <-late:
			ts.Fatalf("%s does not say %s:\n%s", args[0], args[1], text)
		}
	}
}

// eventually REGEXP PROGRAM ARGS… runs a program until it says so.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually REGEXP PROGRAM ARGS…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	late := time.After(patience)
	for {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if err == nil && re.MatchString(out) {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			ts.Fatalf("%s does not say %s: %v\n%s", args[1], args[0], err, out)
		}
	}
}

// capture VARIABLE FILE REGEXP sets a variable to what the regexp's group, or
// all of it, matches first. FILE may be stdout.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture VARIABLE FILE REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[2])
	ts.Check(err)
	m := re.FindStringSubmatch(ts.ReadFile(args[1]))
	if m == nil {
		ts.Fatalf("%s does not say %s", args[1], args[2])
	}
	ts.Setenv(args[0], m[len(m)-1])
}

// envsubst FILE… puts variables in place of their names, written $NAME.
func envsubst(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}

// poke FILE OFFSET HEX overwrites bytes of a file.
func poke(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: poke FILE OFFSET HEX")
	}
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, offset)
	ts.Check(errors.Join(err, f.Close()))
}

// for-both ARGS… runs parley over HTTP and on the journal file log.db, and wants
// the same from both.
func forBoth(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("parley", append(args, "--token-file", "you.token")...))
	over := ts.ReadFile("stdout")
	ts.Check(ts.Exec("parley", append(args, "--journal", "log.db")...))
	if file := ts.ReadFile("stdout"); file != over {
		ts.Fatalf("over HTTP\n%s\nout of the file\n%s", over, file)
	}
}

// for-each-verb wants that every verb has help with two examples.
func forEachVerb(ts *testscript.TestScript, _ bool, _ []string) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if n := len(strings.Split(cmd.Example, "\n")); n < 2 {
			ts.Fatalf("%s has %d examples, not two", cmd.CommandPath(), n)
		}
		if cmd.Short == "" {
			ts.Fatalf("%s does not say what it does", cmd.CommandPath())
		}
		path := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		ts.Check(ts.Exec("parley", path...))
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot(&terminal{}))
}
