package mcpbridge

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

func TestNotes(t *testing.T) {
	const list, log, updated = "notifications/tools/list_changed", "notifications/message", "notifications/resources/updated"
	add := func(q *notes, method, params string) bool {
		return q.add(note{context.Background(), method, jsontext.Value(params)}, 1000)
	}
	t.Run("equal ones wait once, log lines do not", func(t *testing.T) {
		q := &notes{wake: make(chan struct{}, 1)}
		for range 3 {
			add(q, list, `{}`)
			add(q, log, `{}`)
		}
		if len(q.queue) != 4 || q.bytes != 8 {
			t.Errorf("%d wait with %d bytes", len(q.queue), q.bytes)
		}
	})
	t.Run("log lines give way", func(t *testing.T) {
		q := &notes{wake: make(chan struct{}, 1)}
		for i := range maxNotes {
			if !add(q, log, fmt.Sprint(i%10)) {
				t.Fatal("dropped", i)
			}
		}
		if add(q, log, `"one too many"`) || add(q, list, `{}`) || len(q.queue) != maxNotes {
			t.Error("nothing was dropped")
		}
		if last := q.queue[maxNotes-1]; last.method != list {
			t.Errorf("last is %s", last.method)
		}
	})
	t.Run("what is no log line is kept", func(t *testing.T) {
		q := &notes{wake: make(chan struct{}, 1)}
		for i := range maxNotes + 5 {
			if add(q, updated, fmt.Sprint(i%100, " ")+strings.Repeat("x", i/100)) != (i < maxNotes) {
				t.Error("wrong at", i)
			}
		}
	})
	t.Run("bytes count", func(t *testing.T) {
		q := &notes{wake: make(chan struct{}, 1)}
		big := strings.Repeat("x", 600)
		if !add(q, log, big) || add(q, updated, big) || len(q.queue) != 1 || q.queue[0].method != updated {
			t.Errorf("%d wait", len(q.queue))
		}
		if n, ok := q.next(); !ok || n.method != updated || q.bytes != 0 {
			t.Errorf("%d bytes are left", q.bytes)
		}
	})
}

// A caller that takes progress slowly gets the newest, in order, and then the
// answer.
func TestSlowProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := make(chan struct{})
		u, err := connectMemory(t.Context(), nil, func(in io.Reader, out io.Writer) {
			scan := newScanner(in)
			for scan.Scan() {
				line := jsontext.Value(scan.Text())
				if method, _ := parley.MemberString(line, "method"); method != "test/slow" {
					rawServer{strings.NewReader(scan.Text()), out}.run()
					continue
				}
				id := parley.Member(line, "id")
				report := func(n int) {
					fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":%d,"progressToken":%s}}`+"\n", n, id)
				}
				report(0)
				<-first
				for n := range 100 {
					report(n + 1)
				}
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345}}`+"\n")
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		var got []string
		_, err = u.Call(t.Context(), "test/slow", jsontext.Value(`{"_meta":{"progressToken":"t"}}`), func(p jsontext.Value) {
			if got = append(got, string(p)); len(got) == 1 {
				close(first)
				synctest.Wait() // all of the others arrive meanwhile
			}
		})
		if err != nil || len(got) != 17 || got[0] != `{"progress":0,"progressToken":"t"}` || got[16] != `{"progress":100,"progressToken":"t"}` {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// What a server says in a call is handed on, in the call's own time, before the
// call has its answer.
func TestNotesComeBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said atomic.Int32
		o := &Options{OnNotification: func(ctx context.Context, _ string, _ jsontext.Value) {
			time.Sleep(time.Second) // as long as it takes to put it on record
			if ctx.Err() == nil {
				said.Add(1)
			}
		}}
		u, err := connectMemory(t.Context(), o, func(in io.Reader, out io.Writer) {
			scan := newScanner(in)
			for scan.Scan() {
				line := jsontext.Value(scan.Text())
				if method, _ := parley.MemberString(line, "method"); method != "test/talk" {
					rawServer{strings.NewReader(scan.Text()), out}.run()
					continue
				}
				for n := range 3 {
					fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n", n)
				}
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`+"\n", parley.Member(line, "id"))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err := u.Call(ctx, "test/talk", nil, nil); err == nil || said.Load() != 3 {
			t.Errorf("%d of 3 were handed on, %v", said.Load(), err)
		}
	})
}
