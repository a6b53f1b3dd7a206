package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
)

func newTokenLink(t *terminal) *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Make a link that signs a browser in to the web console",
		Long: `Make a link that signs a browser in to the web console of a running gateway, as the
participant whose token it is. It works once, within 10 minutes, and does not show
the token. Whoever opens it first is signed in: pass it on as you would the token.

Sign out everywhere, in the console, ends what a link began, and makes those that
are not used yet worthless.`,
		Example: `  parley token link --token-file you.token
  parley token link --url https://parley.example --token-file you.token`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := to.resolve(t)
			if err != nil {
				return err
			}
			link, expires, err := makeLink(cmd.Context(), &api{address: a, http: patientClient()})
			if err != nil {
				return err
			}
			return t.printLink(link, "It signs in one browser", expires, time.TimeOnly)
		},
	}
	to.addGatewayFlags(cmd.Flags()) // a token is somebody in all its spaces, and so is who signs in with it
	return cmd
}

// makeLink asks the gateway for the code of a link.
func makeLink(ctx context.Context, a *api) (link string, expires time.Time, err error) {
	made, err := a.value(a.call(ctx, http.MethodPost, a.url+"/v1/session/code", nil))
	if err != nil {
		return "", expires, err
	}
	code, expires, err := a.expiring(made, "code")
	if err != nil {
		return "", expires, err
	}
	return signInLink(a.url, code), expires, nil
}

// expiring reads one member of what a gateway made, and until when that works.
func (a *api) expiring(made jsontext.Value, name string) (value string, expires time.Time, err error) {
	value, _ = parley.MemberString(made, name)
	until, _ := parley.MemberString(made, "expires")
	if expires, err = time.Parse(time.RFC3339, until); err != nil || value == "" {
		return "", expires, parley.Errorf(parley.Internal, "%s answered something that is no link", a.url).
			WithHint("is there a Parley gateway of this version at this URL?")
	}
	return value, expires, nil
}

// printLink prints a link, and in words what it does and until when, as layout has
// the time.
func (t *terminal) printLink(link, does string, expires time.Time, layout string) error {
	if t.asJSON() {
		return t.writeValue(struct {
			URL     string    `json:"url"`
			Expires time.Time `json:"expires"`
		}{link, expires})
	}
	_, err := fmt.Fprintf(t.out, "%s\n%s, until %s.\n", clean(link), does, expires.Local().Format(layout))
	return err
}

// consoleURL is where a gateway's console is.
func consoleURL(gateway string) string { return gateway + "/console/" }

// signInLink is the console's address with a code. What follows the # stays in the
// browser: no server, proxy or preview of a link is told it by opening the link.
func signInLink(gateway, code string) string { return consoleURL(gateway) + "#code=" + code }
