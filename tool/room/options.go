package room

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/parleyhq/parley"
)

// Options say how to join. The zero value is valid; a gateway wants a token all
// the same, unless its configuration says otherwise.
type Options struct {
	// Token proves who we are. Ids of questions follow from it.
	Token string

	// Space is the name of the space. Default: what the URL says, else the
	// gateway's choice.
	Space string

	// Serves names those who answer what a tool asks where its caller cannot, by
	// what that is: "sampling", "elicitation". The first who is in the room is
	// asked; one who serves sampling is expected to take tools. Default: nobody.
	Serves map[string][]string

	// OnJoin is told, before the first call, as whom the server has joined.
	OnJoin func(participant string)

	// HTTPClient makes the connections. Default: as client.Options.
	HTTPClient *http.Client

	// Log gets what goes wrong without any call failing by it. Default: dropped.
	Log *slog.Logger

	arrival, farewell time.Duration // 0: defaultArrival, defaultFarewell
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// check refuses, with invalid_argument, services that nobody asks for.
func (o *Options) check() error {
	for what, who := range o.Serves {
		if what != serviceSampling && what != serviceElicitation {
			return parley.Errorf(parley.InvalidArgument, "Serves names %q", what).WithHint("it is %q or %q", serviceSampling, serviceElicitation)
		}
		if slices.Contains(who, "") {
			return parley.Errorf(parley.InvalidArgument, "one of those who serve %s has no name", what)
		}
	}
	return nil
}
