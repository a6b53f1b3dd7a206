package mcpbridge

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

// A call that the server may have begun is never reported as one that it has
// not looked at: such a one is made again.
func TestOnlyRefusedCallsAreReportedAsNotLookedAt(t *testing.T) {
	for name, refuse := range map[string]func(w http.ResponseWriter, r *http.Request, id string){
		"status": func(w http.ResponseWriter, r *http.Request, _ string) { http.NotFound(w, r) },
		"error": func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			reply(w, id, `"error":{"code":0,"message":"method \"tools/call\" is invalid during session initialization"}`)
		},
		"answer": func(w http.ResponseWriter, _ *http.Request, id string) {
			reply(w, id, `"error":{"code":0,"message":"method \"tools/call\" is invalid during session initialization"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			working := make(chan struct{})
			s := &script{session: "s1"}
			s.call = func(w http.ResponseWriter, id, method string, r *http.Request) {
				if method == "test/refused" {
					refuse(w, r, id)
					return
				}
				close(working)
				<-r.Context().Done()
			}
			_, at := serveHTTP(t, s)
			u := open(t, at, nil)
			begun := make(chan error, 1)
			go func() {
				_, err := u.Call(t.Context(), "test/works", nil, nil)
				begun <- err
			}()
			<-working
			if _, err := u.Call(t.Context(), "test/refused", nil, nil); !errors.Is(err, ErrSessionLost) {
				t.Errorf("the refused call: %v", err)
			}
			if err := <-begun; !errors.Is(err, ErrServerGone) || errors.Is(err, ErrSessionLost) {
				t.Errorf("the call that the server worked on: %v", err)
			}
			if _, err := u.Call(t.Context(), "test/late", nil, nil); !errors.Is(err, ErrSessionLost) {
				t.Errorf("a later call: %v", err)
			}
		})
	}
	t.Run("resumed", func(t *testing.T) {
		s := &script{session: "s1"}
		s.call = func(w http.ResponseWriter, _, _ string, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 1\nid: a\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/begun\"}\n\n")
		}
		s.get = func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
		_, at := serveHTTP(t, s)
		u := open(t, at, nil)
		if _, err := u.Call(t.Context(), "test/works", nil, nil); !errors.Is(err, ErrServerGone) || errors.Is(err, ErrSessionLost) {
			t.Errorf("the call that the server worked on: %v", err)
		}
		if err := u.Wait(); !errors.Is(err, ErrSessionLost) {
			t.Errorf("Wait: %v", err)
		}
	})
}
