package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

func newVersion(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and Go version",
		Example: `  parley version
  parley version --json | jq -r .commit`,
		Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if t.asJSON() {
				return t.writeValue(v)
			}
			_, err := fmt.Fprintln(t.out, v)
			return err
		},
	}
}

// buildVersion is what the build says of itself.
type buildVersion struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitzero"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() buildVersion {
	v := buildVersion{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "(devel)" {
		v.Version = cmp.Or(info.Main.Version, v.Version)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified, _ = strconv.ParseBool(s.Value)
		}
	}
	return v
}

func (v buildVersion) String() string {
	s := "parley " + v.Version
	if v.Commit != "" {
		s += ", commit " + v.Commit
	}
	if v.Modified {
		s += " (modified)"
	}
	return s + ", " + v.Go + ", " + v.Platform
}

// writeValue writes a value of our own as a line of JSON.
func (t *terminal) writeValue(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return t.writeJSON(b)
}
