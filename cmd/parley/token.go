package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
)

func newToken(t *terminal) *cobra.Command {
	cmd := newTokenNew(t)
	cmd.AddCommand(newTokenNew(t), newTokenLink(t), newTokenApprovalLink(t))
	cmd.Use, cmd.Args = "token", group()
	return cmd
}

func newTokenNew(t *terminal) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a token for a participant",
		Long: `Make a random token, and the hash of it that parley.yaml may hold in its place:

  participants:
    you: {token: "sha256:…", capabilities: [chat]}

With --out the token goes to a file that only you can read, and is not shown.`,
		Example: `  parley token
  parley token new --out you.token`,
		Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			token := randomToken()
			if out != "" {
				if err := writeTokenFile(out, token); err != nil {
					return err
				}
			}
			return t.printToken(token, out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the token to this new `FILE`")
	return cmd
}

// printToken shows a new token, unless it went to a file, and its hash.
func (t *terminal) printToken(token, file string) error {
	hash := config.HashToken(token).Reference()
	if t.asJSON() {
		shown := struct {
			Token string `json:"token,omitempty"`
			File  string `json:"file,omitempty"`
			Hash  string `json:"hash"`
		}{token, file, hash}
		if file != "" {
			shown.Token = ""
		}
		return t.writeValue(shown)
	}
	if file != "" {
		_, err := fmt.Fprintln(t.out, hash)
		return err
	}
	_, err := fmt.Fprintf(t.out, "%s\n%s\n", token, hash)
	return err
}

func randomToken() string {
	var b [32]byte
	rand.Read(b[:])
	return "parley_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// writeTokenFile writes a file that only its owner can read, and overwrites none:
// the token in it may be in use.
func writeTokenFile(path, token string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return parley.Errorf(parley.InvalidArgument, "%s exists already", path).
			WithHint("choose another name, or delete it if nobody uses its token any more")
	}
	if err != nil {
		return parley.Errorf(parley.Unavailable, "the token cannot be written: %v", err)
	}
	if _, err = fmt.Fprintln(f, token); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return parley.Errorf(parley.Unavailable, "the token cannot be written: %v", err)
	}
	return nil
}
