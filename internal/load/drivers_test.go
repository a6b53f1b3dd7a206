package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// Next of every protocol, on what its server says.
var nexts = map[string]func([]byte) (int, int, error){
	"text": textNext, "nats": natsNext, "redis": redisNext, "mqtt": mqttNext,
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		next string
		says string
		want string // each message as {…}, anything else as its length; then what is wrong
	}{
		{"text", "\x81\x05hello\x81\x02yo", "{hello}{yo}"},
		{"text", "\x81\x7e\x01\x2c" + strings.Repeat("x", 300), "{" + strings.Repeat("x", 300) + "}"},
		{"text", "\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x02ok", "{ok}"},
		{"text", "\x89\x01p\x8a\x00\x81\x01m", "(3)(2){m}"},
		{"text", "\x88\x07\x0f\xa8" + "slow!", `error websocket: closed with 4008 "slow!"`},
		{"text", "\x88\x00", "error websocket: closed"},
		{"text", "\x82\x01b", "error websocket: a frame of type 82"},
		{"text", "\x81\x81mask", "error websocket: a frame that begins with 8181"},
		{"text", "\xc1\x01z", "error websocket: a frame that begins with c101"},
		{"text", "\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", "error websocket: a frame of 9223372036854775808 bytes"},

		{"nats", "INFO {}\r\nMSG parley 1 5\r\nhello\r\nPING\r\n+OK\r\nMSG parley 1 _INBOX.1 0\r\n\r\n", "(9){hello}(6)(5){}"},
		{"nats", "-ERR 'Slow Consumer'\r\n", `error nats: the server says "-ERR 'Slow Consumer'\r\n"`},
		{"nats", "MSG parley 1 x\r\n", `error nats: no size in "MSG parley 1 x\r\n"`},
		{"nats", "MSG parley 1 12345678\r\n", `error nats: no size in "MSG parley 1 12345678\r\n"`},
		{"nats", "hello\r\n", `error nats: the server says "hello\r\n"`},
		{"nats", strings.Repeat("x", natsLine), "error nats: a line without an end"},

		{"redis", ":12\r\n*3\r\n$7\r\nmessage\r\n$6\r\nparley\r\n$5\r\nhello\r\n:0\r\n", "(5){hello}(4)"},
		{"redis", "*3\r\n$7\r\nmessage\r\n$6\r\nparley\r\n$0\r\n\r\n", "{}"},
		{"redis", "-ERR no\r\n", `error redis: the server says "-ERR no\r\n"`},
		{"redis", "*3\r\n$7\r\nmessage\r\n$5\r\nother\r\n$1\r\nx\r\n", `error redis: the server says "*3\r\n$7\r\nmessage\r\n$5\r\nother\r\n$1\r\nx\r\n"`},
		{"redis", "*3\r\n$7\r\nmessage\r\n$6\r\nparley\r\n$-1\r\n", `error redis: a message of "-1" bytes`},
		{"redis", "*3\r\n$7\r\nmessage\r\n$6\r\nparley\r\n$12345678901", `error redis: a message of "1234567890" bytes`},

		{"mqtt", "\x20\x02\x00\x00\x30\x0d\x00\x06parleyhello\x90\x03\x00\x01\x00", "(4){hello}(5)"},
		{"mqtt", "\x30\xb4\x02\x00\x06parley" + strings.Repeat("x", 300), "{" + strings.Repeat("x", 300) + "}"},
		{"mqtt", "\x32\x0d\x00\x06parleyhello", "error mqtt: a quality of service that nobody asked for"},
		{"mqtt", "\x30\x03\x00\x06p", "error mqtt: a topic longer than its message"},
		{"mqtt", "\x30\xff\xff\xff\xff\x01", "error mqtt: a length of more than four bytes"},
	} {
		if got := said(nexts[c.next], []byte(c.says)); got != c.want {
			t.Errorf("%s of %.60q:\n got %s\nwant %s", c.next, c.says, got, c.want)
		}
	}
}

// said walks over what a server says, and holds Next to its word: it says the
// same of less, or that it needs more.
func said(next func([]byte) (int, int, error), b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		size, body, err := next(b)
		if err != nil {
			fmt.Fprintf(&out, "error %v", err)
			break
		}
		if size == 0 || size > len(b) {
			fmt.Fprintf(&out, "(%d of %d)", len(b), size)
			break
		}
		for n := 1; n < size; n++ {
			if s, at, err := next(b[:n]); err != nil || s != 0 && (s != size || at != body) {
				fmt.Fprintf(&out, "(of %d bytes it says %d, %d, %v)", n, s, at, err)
			}
		}
		if body >= 0 {
			fmt.Fprintf(&out, "{%s}", bytes.TrimSuffix(b[body:size], []byte("\r\n")))
		} else {
			fmt.Fprintf(&out, "(%d)", size)
		}
		b = b[size:]
	}
	return out.String()
}

// Whatever a server says, no frame is shorter than its headers or ends in its
// body, and walking comes to an end.
func FuzzNext(f *testing.F) {
	f.Add([]byte("\x81\x05hello\x89\x00"))
	f.Add([]byte("INFO {}\r\nMSG parley 1 5\r\nhello\r\n"))
	f.Add([]byte(":12\r\n*3\r\n$7\r\nmessage\r\n$6\r\nparley\r\n$5\r\nhello\r\n"))
	f.Add([]byte("\x20\x02\x00\x00\x30\x0d\x00\x06parleyhello"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, next := range nexts {
			for rest := b; len(rest) > 0; {
				size, body, err := next(rest)
				if err != nil || size == 0 {
					break
				}
				if size < 0 || body > size || body < -1 || body == 0 {
					t.Fatalf("%s of %q: size %d, body %d", name, rest, size, body)
				}
				rest = rest[min(size, len(rest)):]
			}
		}
	})
}

// However a stream is cut into frames and reads, it is the same stream.
func TestUnframed(t *testing.T) {
	frames := "\x02\x03MSG" + "\x89\x02hi" + "\x00\x02 p" + "\x82\x7e\x00\x80" + strings.Repeat("x", 128) + "\x82\x00" + "\x82\x01y" + "\x88\x00"
	want := "MSG p" + strings.Repeat("x", 128) + "y"
	for early := range len(frames) {
		for _, step := range []int{1, 2, 3, 7, 1000} {
			ours, theirs := net.Pipe()
			go func() {
				for rest := []byte(frames[early:]); len(rest) > 0; {
					n, err := theirs.Write(rest[:min(step, len(rest))])
					if err != nil {
						return
					}
					rest = rest[n:]
				}
				theirs.Close()
			}()
			got, err := io.ReadAll(&unframed{Conn: ours, early: []byte(frames[:early])})
			ours.Close()
			if err != nil || string(got) != want {
				t.Fatalf("%d early, %d a time: %q, %v", early, step, got, err)
			}
		}
	}
}

func TestClientHeader(t *testing.T) {
	for size, want := range map[int]string{
		5:     "\x82\x85\x00\x00\x00\x00",
		125:   "\x82\xfd\x00\x00\x00\x00",
		126:   "\x82\xfe\x00\x7e\x00\x00\x00\x00",
		70000: "\x82\xff\x00\x00\x00\x00\x00\x01\x11\x70\x00\x00\x00\x00",
	} {
		if got := appendClientHeader(nil, wsBinary, size); string(got) != want {
			t.Errorf("before %d bytes: %x", size, got)
		}
	}
}

func TestPingsAreAnswered(t *testing.T) {
	for _, c := range []struct {
		control func([]byte) ([]byte, error)
		frame   string
		want    string
	}{
		{answerPing, "\x89\x02hi", "\x8a\x82\x00\x00\x00\x00hi"},
		{answerPing, "\x8a\x02hi", ""},
		{nats{}.control, "PING\r\n", "PONG\r\n"},
		{nats{}.control, "+OK\r\n", ""},
		{nats{websocket: true}.control, "PING\r\n", "\x82\x86\x00\x00\x00\x00PONG\r\n"},
	} {
		if got, err := c.control([]byte(c.frame)); err != nil || string(got) != c.want {
			t.Errorf("%q is answered by %q, %v", c.frame, got, err)
		}
	}
}

func TestUnframedRefuses(t *testing.T) {
	c := &unframed{Conn: nil, early: []byte("\x82\x81mask?")}
	if _, err := io.ReadAll(c); err == nil || !strings.Contains(err.Error(), "begins with 8281") {
		t.Errorf("a masked frame of a server: %v", err)
	}
}

// What is said on connecting and sending, byte for byte, to a server that
// follows a script.
func TestTranscripts(t *testing.T) {
	stamp := string(AppendStamp(nil, 1))
	upgradeTo := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: HOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cGFybGV5LWJlbmNoLWtleQ==\r\n\r\n"
	}
	switched := "HTTP/1.1 101 Switching Protocols\r\n\r\n"
	masked := func(opcode byte, s string) string { return string(appendClientHeader(nil, opcode, len(s))) + s }
	sub, pub := natsHello+"SUB parley 1\r\nPING\r\n", natsHello+"PING\r\n"
	for _, c := range []struct {
		name    string
		p       Protocol
		receive []string // < is said to the server, > is said by it; then messages come
		send    []string // and then one message goes
	}{
		{"floor", floor{},
			[]string{"<r", ">+\x81\x05hello"},
			[]string{"<s", ">+", "<\x81\x13" + stamp}},
		{"ws", broadcaster{},
			[]string{"<" + upgradeTo("/"), ">" + switched + "\x81\x05hello"},
			[]string{"<" + upgradeTo("/send"), ">" + switched, "<" + masked(wsText, stamp)}},
		{"nats", nats{},
			[]string{"<" + sub, ">INFO {}\r\nPONG\r\nMSG parley 1 5\r\nhello\r\n"},
			[]string{"<" + pub, ">INFO {}\r\nPONG\r\n", "<PUB parley 19\r\n" + stamp + "\r\n"}},
		{"nats over websocket", nats{websocket: true},
			[]string{"<" + upgradeTo("/"), ">" + switched + "\x82\x09INFO {}\r\n", "<" + masked(wsBinary, sub),
				">\x82\x06PONG\r\n\x82\x10MSG parley 1 5\r\n\x82\x07hello\r\n"},
			[]string{"<" + upgradeTo("/"), ">" + switched + "\x82\x09INFO {}\r\n", "<" + masked(wsBinary, pub),
				">\x82\x06PONG\r\n", "<" + masked(wsBinary, "PUB parley 19\r\n"+stamp+"\r\n")}},
		{"redis", redis{},
			[]string{"<*2\r\n$9\r\nSUBSCRIBE\r\n$6\r\nparley\r\n",
				">*3\r\n$9\r\nsubscribe\r\n$6\r\nparley\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$6\r\nparley\r\n$5\r\nhello\r\n"},
			[]string{"<PING\r\n", ">+PONG\r\n", "<*3\r\n$7\r\nPUBLISH\r\n$6\r\nparley\r\n$19\r\n" + stamp + "\r\n"}},
		{"mqtt", mqtt{},
			[]string{"<\x10\x15\x00\x04MQTT\x04\x02\x00\x00\x00\x09receiver0\x82\x0b\x00\x01\x00\x06parley\x00",
				">\x20\x02\x00\x00\x90\x03\x00\x01\x00\x30\x0d\x00\x06parleyhello"},
			[]string{"<\x10\x13\x00\x04MQTT\x04\x02\x00\x00\x00\x07sender0", ">\x20\x02\x00\x00",
				"<\x30\x1b\x00\x06parley" + stamp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := Target{Address: script(t, c.receive...), Size: 19}
			stream, err := c.p.Receive(t.Context(), target, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan string, 1)
			w := newWalker(stream, 16, func(body []byte) error {
				got <- string(bytes.TrimSuffix(body, []byte("\r\n")))
				return errors.New("enough")
			})
			_ = w.until(func(uint64) {})
			if message := <-got; message != "hello" {
				t.Errorf("received %q", message)
			}
			stream.Conn.Close()

			target.Address = script(t, c.send...)
			feed, err := c.p.Send(t.Context(), target, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := feed.Conn.Write(feed.Append(nil, 1)); err != nil {
				t.Error(err)
			}
			feed.Conn.Close()
		})
	}
}

// script serves one connection: it says what follows ">", and waits for what
// follows "<", where HOST stands for its address.
func script(t *testing.T, steps ...string) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- follow(l, steps) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return address
}

func follow(l net.Listener, steps []string) error {
	nc, err := l.Accept()
	if err != nil {
		return err
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(nc)
	for _, step := range steps {
		if step[0] == '>' {
			if _, err := io.WriteString(nc, step[1:]); err != nil {
				return err
			}
			continue
		}
		want := strings.ReplaceAll(step[1:], "HOST", l.Addr().String())
		got := make([]byte, len(want))
		if n, err := io.ReadFull(in, got); err != nil || string(got) != want {
			return fmt.Errorf("the server heard\n%q, %v\ninstead of\n%q", got[:n], err, want)
		}
	}
	_, _ = in.ReadByte() // until the other side has had enough
	return nil
}

func TestGreetingRefused(t *testing.T) {
	for _, c := range []struct {
		p    Protocol
		says string
		want string
	}{
		{floor{}, ">?", "floor: it answers '?'"},
		{broadcaster{}, ">HTTP/1.1 404 Not Found\r\n\r\n", `the server answers "HTTP/1.1 404 Not Found"`},
		{nats{}, ">INFO {}\r\n-ERR 'Authorization Violation'\r\n", "Authorization Violation"},
		{redis{}, ">-DENIED protected mode\r\n", "DENIED"},
		{mqtt{}, ">\x20\x02\x00\x05", "mqtt: the broker refuses: 20020005"},
		{mqtt{}, ">\x20\x02\x00\x00\x90\x03\x00\x01\x80", "mqtt: the broker refuses: 9003000180"},
	} {
		_, err := c.p.Receive(t.Context(), Target{Address: script(t, c.says), Size: 19}, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T of %q: %v", c.p, c.says, err)
		}
	}
}

func TestGreetingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		cancel(errors.New("changed my mind"))
		_, _ = io.Copy(io.Discard, nc)
	}()
	_, err = nats{websocket: true}.Receive(ctx, Target{Address: l.Addr().String()}, 0)
	if err == nil || !strings.Contains(err.Error(), "changed my mind") {
		t.Error(err)
	}
}
