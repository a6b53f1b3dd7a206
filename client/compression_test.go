package client_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// watched notes what a handshake says of extensions.
type watched struct {
	*http.Transport
	offered, agreed string
}

func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := w.Transport.RoundTrip(req)
	if err == nil && res.StatusCode == http.StatusSwitchingProtocols {
		w.offered, w.agreed = req.Header.Get("Sec-WebSocket-Extensions"), res.Header.Get("Sec-WebSocket-Extensions")
	}
	return res, err
}

// A room is compressed where that is asked for, and says the same either way.
func TestCompression(t *testing.T) {
	g := parleytest.Start(t, nil)
	dial := func(who string, compression bool) (*client.Room, *watched) {
		w := &watched{Transport: &http.Transport{}}
		t.Cleanup(w.CloseIdleConnections)
		room, err := client.Dial(t.Context(), g.URL, &client.Options{
			Space: g.Space, Token: g.Token(who), Compression: compression, HTTPClient: &http.Client{Transport: w},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(room.Close)
		return room, w
	}
	plain, w := dial("you", false)
	if w.offered != "" || w.agreed != "" {
		t.Errorf("by default %q is offered, %q agreed on", w.offered, w.agreed)
	}
	packed, w := dial("boss", true)
	if w.agreed != "permessage-deflate; server_no_context_takeover; client_no_context_takeover" {
		t.Errorf("of %q it is agreed on %q", w.offered, w.agreed)
	}
	heard := map[*client.Room]chan *parley.Envelope{plain: make(chan *parley.Envelope), packed: make(chan *parley.Envelope)}
	for room, to := range heard {
		seq := room.Envelopes(t.Context())
		go func() {
			for e, err := range seq {
				if err != nil {
					return
				}
				if e.Kind == "chat" {
					to <- e
				}
			}
		}()
	}
	for _, size := range []int{10, 600, 200_000} {
		text := strings.Repeat("as was said ", size/12+1)
		for room := range heard {
			if _, err := room.Chat(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			for _, to := range heard {
				if e := <-to; !strings.Contains(string(e.Payload), text) {
					t.Errorf("%d bytes: %d arrive", len(text), len(e.Payload))
				}
			}
		}
	}
}
