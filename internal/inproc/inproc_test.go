package inproc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHTTPInProcess(t *testing.T) {
	l := Listen()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d bytes", len(body))
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	transport := &http.Transport{DialContext: l.DialContext}
	client := &http.Client{Transport: transport}
	resp, err := client.Post("http://gateway/", "text/plain", strings.NewReader(strings.Repeat("x", 3*most)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if want := fmt.Sprint(3*most, " bytes"); err != nil || string(answer) != want {
		t.Errorf("got %q, %v", answer, err)
	}
	transport.CloseIdleConnections()
	server.Close()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if _, err := l.DialContext(t.Context(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair()
		a.SetReadDeadline(time.Now().Add(time.Second))
		began := time.Now()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("a deadline passed: %v after %v", err, time.Since(began))
		}
		a.SetReadDeadline(time.Time{})
		b.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := b.Write(make([]byte, most+1)); n != most || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("nobody reads: %d, %v", n, err)
		}
		b.Close()
		if data, err := io.ReadAll(a); len(data) != most || err != nil {
			t.Errorf("what was written is read: %d, %v", len(data), err)
		}
		if _, err := a.Write([]byte("x")); err == nil {
			t.Error("nobody reads any more")
		}
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed end: %v", err)
		}
		a.Close()
	})
}
