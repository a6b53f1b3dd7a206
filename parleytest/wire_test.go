package parleytest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/parleytest"
)

var update = flag.Bool("update", false, "write what the gateway sends into testdata/wire")

// TestWire plays the conformance cases of testdata/wire against a gateway over
// real sockets. Its README says how to read them.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("../testdata/wire/*.txtar")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			c, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playCase(t, c)
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if g, w := string(txtar.Format(got)), string(txtar.Format(c)); g != w {
				t.Errorf("%s\n--- got\n%s\n--- want\n%s", file, g, w)
			}
		})
	}
}

// TestEveryRefusalHasATranscript holds section 5's table against the cases. The
// two that need a broken gateway are seen in package gateway.
func TestEveryRefusalHasATranscript(t *testing.T) {
	files, err := filepath.Glob("../testdata/wire/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	for _, code := range parley.Codes() {
		seen := strings.Contains(all.String(), `"error":"`+string(code)+`"`) ||
			regexp.MustCompile(`HTTP \d+ `+string(code)+`:`).MatchString(all.String())
		if !seen && code != parley.Unavailable && code != parley.Internal {
			t.Errorf("no transcript shows %s", code)
		}
	}
}

// playCase plays one case and returns it with what everybody saw.
func playCase(t *testing.T, c *txtar.Archive) *txtar.Archive {
	p := &wirePlay{t: t, sockets: map[string]*socket{}, names: map[string]string{}}
	var play string
	for _, f := range c.Files {
		switch f.Name {
		case "space":
			p.space(string(f.Data))
		case "play":
			play = string(f.Data)
		}
	}
	p.gateway = parleytest.Start(t, &p.options)
	for line := range strings.Lines(play) {
		p.do(strings.TrimSuffix(line, "\n"))
	}
	p.gateway.Stop()
	return p.written(c)
}

type wirePlay struct {
	t       *testing.T
	options parleytest.Options
	gateway *parleytest.Gateway
	sockets map[string]*socket // by label: NAME, or NAME#2 for another connection
	order   []string           // labels, as they first connected
	names   map[string]string  // generated ids and epochs by what stands for them
}

// space reads "NAME: CAPABILITY, …" and "limits: NAME=VALUE …" lines.
func (p *wirePlay) space(text string) {
	p.options.Participants = map[string][]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "":
		case "lazy":
			p.options.Lazy = true
		case "pinned":
			p.options.Pinned = strings.Split(value, ", ")
		case "protocol":
			p.options.Protocol = value
		case "limits":
			p.limits(value)
		default:
			p.options.Participants[name] = strings.Split(value, ", ")
		}
	}
}

func (p *wirePlay) limits(text string) {
	l := &p.options.Limits
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		field := map[string]*int{
			"envelope_bytes": &l.EnvelopeBytes, "nesting": &l.Nesting, "burst": &l.Burst, "history": &l.History,
			"participants": &l.Participants, "connections": &l.Connections, "open_proposals": &l.OpenProposals,
			"context_metadata_bytes": &l.ContextMetadataBytes, "context_depth": &l.ContextDepth, "open_contexts": &l.OpenContexts,
		}[name]
		switch {
		case err != nil:
			p.t.Fatal(err)
		case name == "rate":
			l.Rate = float64(n) / 1000 // per 1,000 seconds, so that a test never sees one come back
		case name == "context_rate":
			l.ContextRate = float64(n) / 1000
		case field == nil:
			p.t.Fatalf("no limit %q", name)
		default:
			*field = n
		}
	}
}

func (p *wirePlay) do(line string) {
	label, frame, sends := strings.Cut(line, "> ")
	verb, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || strings.HasPrefix(line, "#"):
	case sends && !strings.Contains(label, " "):
		p.send(label, frame)
	case verb == "connect":
		label, query, _ := strings.Cut(rest, " ")
		p.connect(label, query)
	case verb == "disconnect":
		p.disconnect(rest)
	case verb == "gone":
		p.gone(rest)
	case verb == "lists":
		participant, definitions, _ := strings.Cut(rest, " ")
		p.gateway.ListTools(participant, strings.Split(definitions, " ; ")...)
	case verb == "restart":
		p.restart()
	default:
		p.t.Fatalf("what is %q?", line)
	}
}

// send sends one text frame and waits for what the sender hears of it: its
// echo, an acknowledgement, a refusal, or the end of the connection.
func (p *wirePlay) send(label, frame string) {
	s := p.socket(label)
	typ := websocket.MessageText
	if rest, ok := strings.CutPrefix(frame, "binary "); ok {
		typ, frame = websocket.MessageBinary, rest
	}
	frame = strings.ReplaceAll(frame, "<INVALID>", "\xff")
	frame = expandRepeats(frame)
	before := s.outcomes()
	if err := s.conn.Write(p.t.Context(), typ, []byte(frame)); err != nil {
		p.t.Fatalf("%s: %v", label, err)
	}
	s.await(func() bool { return s.heard > before || s.closed != "" })
}

var repeat = regexp.MustCompile(`<(.+?)\*(\d+)>`)

// expandRepeats writes <x*1000> out.
func expandRepeats(s string) string {
	return repeat.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeat.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

func (p *wirePlay) connect(label, query string) {
	who, _, _ := strings.Cut(label, "#")
	query = strings.ReplaceAll(query, "EPOCH", p.gateway.Epoch())
	header := http.Header{"Authorization": {"Bearer " + p.gateway.Token(who)}}
	if !strings.Contains(query, "space=") && !strings.Contains(query, "topic=") {
		query = "space=" + p.gateway.Space + "&" + query
	}
	url := "ws" + strings.TrimPrefix(p.gateway.URL, "http") + "/ws?" + query
	s := p.sockets[label]
	if s == nil {
		s = &socket{me: who}
		s.changed.L = &s.mu
		p.sockets[label] = s
		p.order = append(p.order, label)
	}
	conn, resp, err := websocket.Dial(p.t.Context(), url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		if resp == nil {
			p.t.Fatal(err)
		}
		s.note(fmt.Sprintf("HTTP %d %s", resp.StatusCode, problem(resp)))
		return
	}
	conn.SetReadLimit(-1)
	s.open(conn)
	p.t.Cleanup(func() { conn.CloseNow(); s.wait() })
	s.await(func() bool { return s.welcomed || s.closed != "" })
}

func problem(resp *http.Response) string {
	body := make([]byte, 4096)
	n, _ := resp.Body.Read(body)
	e, err := parley.Decode([]byte(`{"kind":"x","payload":`+string(body[:n])+`}`), 0)
	if err != nil {
		return string(body[:n])
	}
	return parley.DecodeError(e.Payload).Error()
}

// disconnect closes a connection, once everything on its way to it has arrived,
// and waits until the gateway has noticed.
func (p *wirePlay) disconnect(label string) {
	s := p.socket(label)
	for !p.gateway.Delivered(s.me) && p.t.Context().Err() == nil {
	}
	p.send(label, fence)
	before := p.gateway.Connections(s.me)
	handshake := s.conn.Close(websocket.StatusNormalClosure, "")
	p.awaitConnections(s, before-1)
	s.shook(handshake)
}

// shook notes that the gateway answered our close frame. Whether the reader
// got the answer, or whoever closed, is chance.
func (s *socket) shook(handshake error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if told := fmt.Sprintf("closed %d ", websocket.StatusNormalClosure); handshake == nil && s.closed != told {
		s.closed = told
		s.private = append(s.private, told)
	}
}

// gone waits until the gateway has closed the only connection of a participant,
// and has said so.
func (p *wirePlay) gone(label string) { p.awaitConnections(p.socket(label), 0) }

func (p *wirePlay) awaitConnections(s *socket, n int) {
	s.wait()
	for p.gateway.Connections(s.me) != n {
		if p.t.Context().Err() != nil {
			p.t.Fatal("the gateway did not notice that a connection was closed")
		}
	}
}

func (p *wirePlay) restart() {
	p.gateway.Restart()
	for _, s := range p.sockets {
		s.wait()
	}
}

func (p *wirePlay) socket(label string) *socket {
	s := p.sockets[label]
	if s == nil {
		p.t.Fatalf("%s is not connected", label)
	}
	return s
}

// socket is one participant's connection, or several one after the other.
type socket struct {
	me   string
	conn *websocket.Conn
	done chan struct{}

	mu       sync.Mutex
	changed  sync.Cond
	ordered  []string // frames with a seq
	private  []string // frames without
	welcomed bool
	heard    int    // outcomes of own envelopes
	closed   string // how the connection ended
}

func (s *socket) open(conn *websocket.Conn) {
	s.wait()
	s.mu.Lock()
	s.conn, s.done, s.welcomed, s.closed = conn, make(chan struct{}), false, ""
	s.mu.Unlock()
	go s.read()
}

func (s *socket) read() {
	defer close(s.done)
	for {
		_, data, err := s.conn.Read(context.Background())
		s.mu.Lock()
		if err != nil {
			s.closed = "closed: " + err.Error()
			if ce, ok := errors.AsType[websocket.CloseError](err); ok {
				s.closed = fmt.Sprintf("closed %d %s", ce.Code, ce.Reason)
				s.private = append(s.private, s.closed)
			}
		} else {
			s.take(data)
		}
		s.mu.Unlock()
		s.changed.Broadcast()
		if err != nil {
			return
		}
	}
}

// fence is refused, and its refusal arrives after whatever this connection alone
// was told before.
const fence = `{"id":"fence","kind":""}`

// take sorts a frame. Its envelope is decoded by the strict codec: what the
// gateway sends must pass it as well.
func (s *socket) take(data []byte) {
	e, err := parley.Decode(data, 0)
	if err != nil {
		s.private = append(s.private, "NOT AN ENVELOPE: "+err.Error())
		return
	}
	switch {
	case len(e.Correlation.IDs) > 0 && e.Correlation.IDs[0] == "fence":
	case e.Seq > 0:
		s.ordered = append(s.ordered, string(data))
	default:
		s.private = append(s.private, string(data))
	}
	switch {
	case e.Kind == parley.KindWelcome:
		s.welcomed = true
	case !s.welcomed:
		s.private = append(s.private, "NOT WELCOMED FIRST")
	case e.Kind == parley.KindAck, e.Kind == parley.KindError, e.From == s.me:
		s.heard++
	}
}

func (s *socket) outcomes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

func (s *socket) await(ready func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !ready() {
		s.changed.Wait()
	}
}

func (s *socket) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.private = append(s.private, text)
}

func (s *socket) wait() {
	if s.done != nil {
		<-s.done
	}
}

// written is the case with a section of what each connection saw, in order,
// and one of what it alone was told.
func (p *wirePlay) written(c *txtar.Archive) *txtar.Archive {
	out := &txtar.Archive{Comment: c.Comment}
	for _, f := range c.Files {
		if f.Name == "space" || f.Name == "play" {
			out.Files = append(out.Files, f)
		}
	}
	for _, label := range p.order {
		s := p.sockets[label]
		s.wait()
		p.section(out, label+" is told", s.private)
		p.section(out, label+" sees", s.ordered)
	}
	return out
}

func (p *wirePlay) section(out *txtar.Archive, name string, lines []string) {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(p.normal(line) + "\n")
	}
	out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(b.String())})
}

var (
	stamp  = regexp.MustCompile(`"ts":"[^"]*"`)
	limits = regexp.MustCompile(`"limits":\{[^}]*\}`)
	uuid   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	clock  = regexp.MustCompile(`at \d\d:\d\d:\d\d\.\d{3}Z`)
	retry  = regexp.MustCompile(`"retry_after_ms":\d+`)
	long   = regexp.MustCompile(`x{40,}`)
)

// normal replaces what differs from run to run.
func (p *wirePlay) normal(s string) string {
	s = stamp.ReplaceAllString(s, `"ts":"TS"`)
	s = limits.ReplaceAllString(s, `"limits":{…}`)
	s = retry.ReplaceAllString(s, `"retry_after_ms":MS`)
	s = clock.ReplaceAllString(s, "at TIME")
	s = strings.ReplaceAll(s, p.gateway.Epoch(), "EPOCH")
	s = long.ReplaceAllStringFunc(s, func(x string) string { return fmt.Sprintf("<x*%d>", len(x)) })
	return uuid.ReplaceAllStringFunc(s, func(id string) string {
		if p.names[id] == "" {
			p.names[id] = fmt.Sprintf("ID%d", len(p.names)+1)
		}
		return p.names[id]
	})
}
