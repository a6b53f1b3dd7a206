package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/parleyhq/parley/tool"
)

// serveHTTP serves until ctx ends. Games under way end then, but for those that are kept.
func serveHTTP(ctx context.Context, server *tool.Server, address string, log *slog.Logger) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	handler := server.Handler(tool.HandlerOptions{})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Info("serving", "url", fmt.Sprintf("http://%v/mcp", l.Addr()))
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		handler.Close()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err := h.Shutdown(late)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close() // a connection is left on which nothing was asked yet
		}
		ended <- err
	})
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
