package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/modelspec"
)

// Models run in programs of their own, parley-model, one for each participant:
// this process never asks a model's endpoint. A program is told what it needs
// on its standard input, where no other program sees it, and leaves when that
// ends, however this process ends.

// modelProgram is the name of the program.
const modelProgram = "parley-model"

// findModelProgram looks beside this program, and then in PATH.
func findModelProgram() (string, error) {
	name := modelProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath(modelProgram)
	if err != nil {
		return "", parley.Errorf(parley.Unavailable, "there is no program %s, neither beside parley nor in PATH", modelProgram).
			WithHint("build it where parley's source is, with: go -C model build -o ../bin/ ./cmd/parley-model; then put it beside parley, or into PATH")
	}
	return path, nil
}

// addModels lets a space's models in, with tokens that are as old as this
// process.
func (h *house) addModels(s *config.Space, to *gateway.Space) {
	for id := range config.Sorted(s.Models) {
		to.Rules.Participants[id] = config.ModelCapabilities()
		to.Participants[id] = h.admit(bridgeName{to.Rules.Name, id})
	}
}

// startModels starts every model, and each again when it ends.
func (h *house) startModels(ctx context.Context, a *announcer) {
	for space, s := range config.Sorted(h.plan.config.Spaces) {
		for id, m := range config.Sorted(s.Models) {
			name := bridgeName{space, id}
			run := &modelRun{
				name: name, house: h, tell: a,
				document: modelspec.Document{
					URL: h.url, Space: space, Token: modelspec.Secret(h.tokens[name]), Supervised: true, Settings: m.Settings(),
				},
				log: h.plan.log.With("space", space, "model", id),
			}
			h.guests.Go(func() { run.keep(ctx) })
		}
	}
}

// modelRun is one model's program, again and again.
type modelRun struct {
	name     bridgeName
	house    *house
	tell     *announcer
	document modelspec.Document
	log      *slog.Logger
	said     lastWords
}

const (
	// modelPause is the pause after the first failure in a row, which doubles.
	modelPause     = 500 * time.Millisecond
	longModelPause = time.Minute
	// modelHealthy is how long a program has to run for its end to count as the
	// first failure again.
	modelHealthy = 30 * time.Second
	// modelFarewell is how long a program may take to leave.
	modelFarewell = 8 * time.Second
)

// keep runs the program until ctx ends.
func (m *modelRun) keep(ctx context.Context) {
	pause := modelPause
	for {
		began := time.Now()
		err := m.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > modelHealthy {
			pause = modelPause
		}
		m.tell.unbridged(m.name, err, m.said.take())
		select {
		case <-time.After(pause - rand.N(pause/2)): // those that failed together do not start together
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longModelPause)
	}
}

// once runs the program until it ends, which is an error, or ctx does.
func (m *modelRun) once(ctx context.Context) error {
	path, err := findModelProgram()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, path, "--config", "-", "--log-level", m.level(ctx))
	cmd.Env = modelEnvironment()
	inOwnGroup(cmd)
	input, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", modelProgram, err)
	}
	cmd.Cancel, cmd.WaitDelay = input.Close, modelFarewell
	joined := make(chan struct{}, 1)
	cmd.Stdout = &lineWriter{each: func(line string) { m.event(line, joined) }}
	cmd.Stderr = &lineWriter{each: m.hear}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", modelProgram, err)
	}
	m.log.Info("the model's program has started", "pid", cmd.Process.Pid, "program", path)
	instructed := make(chan struct{})
	go func() {
		defer close(instructed)
		m.instruct(ctx, input, joined)
	}()
	err = cmd.Wait()
	stop()
	<-instructed
	if err == nil {
		return errors.New(modelProgram + " has ended")
	}
	return fmt.Errorf("%s has ended: %w", modelProgram, err)
}

// instruct tells the program what it is, and, once it has joined, which
// requests an earlier run has left without an answer. What cannot be written
// was meant for a program that has ended.
func (m *modelRun) instruct(ctx context.Context, input io.Writer, joined <-chan struct{}) {
	line, err := m.document.Write()
	if err == nil {
		_, err = input.Write(line)
	}
	select {
	case <-joined:
	case <-ctx.Done():
		return
	}
	m.tell.bridged(m.name)
	open, unread := m.house.unanswered(ctx, m.name)
	if err = errors.Join(err, unread); err != nil && ctx.Err() == nil {
		m.log.Warn("the requests that were left without an answer could not be told", "error", err)
		return
	}
	if len(open) == 0 {
		return
	}
	var rest modelspec.Unanswered
	for _, u := range open {
		rest.IDs = append(rest.IDs, u.ID)
	}
	if line, err = json.Marshal(rest); err == nil {
		_, _ = input.Write(append(line, '\n'))
	}
}

// event reads what the program says on its standard output.
func (m *modelRun) event(line string, joined chan<- struct{}) {
	var said modelspec.Joined
	if json.Unmarshal([]byte(line), &said) != nil || said.Event != modelspec.JoinedEvent {
		m.log.Debug("the model says something unknown", "stdout", line)
		return
	}
	select {
	case joined <- struct{}{}:
	default: // it has said so
	}
}

// hear takes a line of the program's standard error, which is a log.
func (m *modelRun) hear(line string) {
	m.said.keep(line)
	level := slog.LevelInfo
	if strings.Contains(line, " level=WARN ") || strings.Contains(line, " level=ERROR ") {
		level = slog.LevelWarn
	}
	m.log.Log(context.Background(), level, "the model says", "stderr", line)
}

// level is what the program is to log: what would be seen of it.
func (m *modelRun) level(ctx context.Context) string {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		if m.log.Enabled(ctx, l) {
			return l.String()
		}
	}
	return slog.LevelWarn.String()
}

// modelVariables are what the program inherits of our environment. Other
// variables may hold secrets that are none of its business, or would say of an
// endpoint what parley.yaml does not.
var modelVariables = []string{
	"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "SYSTEMROOT", "USERPROFILE",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

func modelEnvironment() []string {
	env := []string{}
	for _, name := range modelVariables {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lineWriter hands on what is written, line by line. Of a line that is too long
// it hands on the beginning.
type lineWriter struct {
	each func(line string)
	line []byte
}

// longLine is how much of a line is handed on, in bytes.
const longLine = 8 << 10

func (l *lineWriter) Write(p []byte) (int, error) {
	for piece := range bytes.Lines(p) {
		rest, whole := bytes.CutSuffix(piece, []byte{'\n'})
		l.line = append(l.line, rest[:min(len(rest), longLine-len(l.line))]...)
		if whole {
			l.each(string(l.line))
			l.line = l.line[:0]
		}
	}
	return len(p), nil
}
