package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/parleyhq/parley/client"
)

// person sits at a terminal and answers what is asked there, by a script of the
// human's.
type person struct {
	script []string
	keys   io.WriteCloser
	shown  strings.Builder
}

// watch reads what the terminal shows until it has closed.
func (p *person) watch(screen io.Reader) error {
	for lines := bufio.NewScanner(screen); lines.Scan(); {
		p.shown.WriteString(lines.Text() + "\n")
		if answer := p.answer(lines.Text()); answer != "" {
			if _, err := io.WriteString(p.keys, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer is what is typed after a line is shown; "" is nothing.
func (p *person) answer(line string) string {
	switch {
	case strings.HasPrefix(line, "1/2 cell: ") && len(p.script) > 0:
		cell := p.script[0]
		p.script = p.script[1:]
		if cell == "decline" || cell == "cancel" {
			return "/" + cell + "\n"
		}
		return cell + "\n"
	case strings.HasPrefix(line, "2/2 why: "):
		return "\n"
	case strings.HasPrefix(line, "yes sends it"):
		return "yes\n"
	}
	return ""
}

// A human plays from a terminal, by "parley chat".
func TestTerminal(t *testing.T) {
	ctx := patient(t)
	r := new(room)
	r.open(t, ctx, fmt.Sprintf(config, program(t, "tictactoe")))
	r.join(t, ctx, "model", r.answers("sampling/createMessage", (*players).sample))
	caller, here := r.join(t, ctx, "caller", nil), r.attendance(t, ctx)
	for name, g := range everyClientPlays {
		t.Run(name, func(t *testing.T) { r.playAtTerminal(t, ctx, caller, here, "modern", g) })
	}
}

// playAtTerminal is play with the human in front of "parley chat".
func (r *room) playAtTerminal(t *testing.T, ctx context.Context, caller *client.Room, here attendance, server string, g scripted) {
	t.Helper()
	someone, leave := r.sitDown(t, ctx, g.human)
	here.await(t, ctx, "join human")
	p := g.players()
	p.forms = make([]string, g.forms) // which the terminal shows
	r.play(t, ctx, caller, server, g, p)
	leave()
	here.await(t, ctx, "leave human")
	if shown := someone.shown.String(); strings.Contains(shown, "  | --+---+--\n") != (g.forms > 0) || t.Failed() {
		t.Errorf("the terminal has shown\n%s", shown)
	}
}

// sitDown starts "parley chat" with somebody in front of it.
func (r *room) sitDown(t *testing.T, ctx context.Context, script string) (someone *person, leave func()) {
	t.Helper()
	chat := exec.CommandContext(ctx, program(t, "parley"), "chat", "club", "--json=false", "--url", r.url)
	chat.Dir = t.TempDir()
	chat.Env = append(environment(chat.Dir), "PARLEY_TOKEN=token-of-human")
	someone = &person{script: strings.Split(script, "\n")}
	keys, err := chat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, err := chat.StderrPipe() // what is for people; the record goes to standard output
	if err != nil {
		t.Fatal(err)
	}
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	someone.keys = keys
	watched := make(chan error, 1)
	go func() { watched <- someone.watch(screen) }()
	return someone, func() {
		t.Helper()
		if err := errors.Join(keys.Close(), <-watched, chat.Wait()); err != nil {
			t.Errorf("parley chat ended with %v", err)
		}
	}
}
