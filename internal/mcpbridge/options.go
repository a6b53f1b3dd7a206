package mcpbridge

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Options say how to connect. Nil is valid, and so is the zero value.
//
// The functions are called from goroutines of the [Upstream], whose Close
// waits for them. They may call the Upstream's methods, but for Close and Wait.
type Options struct {
	// ClientInfo is the object with which we introduce ourselves. Default:
	// {"name":"parley","version":"0"}.
	ClientInfo jsontext.Value

	// Capabilities is the object of what we declare to be able to. Default:
	// {}, so that a server asks nothing of us. In particular roots are not
	// declared: a filesystem server would take them for its folders.
	Capabilities jsontext.Value

	// OnNotification takes what the server announces, in its order, one at a
	// time: list_changed, resources/updated, message and whatever else; not
	// progress, which goes to its call, nor cancelled. ctx is the context of the
	// call that the server was busy with, where that is known, else one that
	// ends with the Upstream. While it runs up to 256 more wait, equal ones
	// once; beyond that log messages are dropped first. Default: ignored.
	OnNotification func(ctx context.Context, method string, params jsontext.Value)

	// OnRequest answers what the server asks of us, but for ping. Many may run
	// at once. ctx is as for OnNotification, and is cancelled when the server
	// withdraws its request or the Upstream ends. An [*jsonrpc.Error] is handed on as
	// it is, any other error as an internal one. Default: refused as unknown
	// methods, −32601.
	OnRequest func(ctx context.Context, method string, params jsontext.Value) (result jsontext.Value, err error)

	// OnStderr takes what the server's program writes to its standard error,
	// line by line, without control characters, at most 4 KiB of each and some
	// 50 a second; "(n lines left out)" stands for the rest. Default: dropped.
	OnStderr func(line string)

	// Log gets what the server does wrong without any call failing by it.
	// Default: dropped.
	Log *slog.Logger

	// HandshakeTimeout bounds the time from the start of the program until
	// initialize is answered. Default: 2 minutes, since npx may have to
	// download the server first.
	HandshakeTimeout time.Duration

	// DiscoverTimeout bounds the wait for the answer to the first question,
	// whether the server speaks the modern era; one that does not know the
	// question may not answer. Default: 10 seconds.
	DiscoverTimeout time.Duration

	// Grace is how long a program has to end by itself when its input is
	// closed, and again when it was asked to terminate. Default: 3 seconds.
	Grace time.Duration

	// SessionIdle is how long a caller's own session lives without a call.
	// Default: 10 minutes.
	SessionIdle time.Duration

	// MaxMessage bounds one message of the server, in bytes. Over stdio a
	// longer one is the end of the server, since what follows cannot be told
	// from it. Default: 16 MiB.
	MaxMessage int
}

func (o *Options) maxMessage() int         { return cmp.Or(o.MaxMessage, 16<<20) }
func (o *Options) grace() time.Duration    { return cmp.Or(o.Grace, 3*time.Second) }
func (o *Options) patience() time.Duration { return cmp.Or(o.HandshakeTimeout, 2*time.Minute) }

func (o *Options) curiosity() time.Duration {
	return cmp.Or(o.DiscoverTimeout, 10*time.Second)
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

func (o *Options) clientInfo() jsontext.Value {
	if o.ClientInfo == nil {
		return jsontext.Value(`{"name":"parley","version":"0"}`)
	}
	return o.ClientInfo
}

func (o *Options) capabilities() jsontext.Value {
	if o.Capabilities == nil {
		return jsontext.Value(`{}`)
	}
	return o.Capabilities
}
