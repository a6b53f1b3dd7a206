package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzParse holds what is true of every input: no panic, an error with places
// inside of the file, a complete Config without one, and no secret in either.
func FuzzParse(f *testing.F) {
	f.Add([]byte(specExample))
	f.Add([]byte(bomb()))
	files, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	const secret = "Zx9-the-value-of-every-variable"
	env := Env{Dir: f.TempDir(), Lookup: func(string) (string, bool) { return secret, true }}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Parse("f", data, env)
		if err == nil {
			complete(t, cfg)
			return
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || cfg != nil || len(e.Problems) == 0 || len(e.Problems) > maxProblems {
			t.Fatalf("%v, %T", cfg, err)
		}
		if strings.Contains(err.Error(), secret) {
			t.Fatalf("a secret shows: %v", err)
		}
		lines := strings.Count(string(data), "\n") + 2
		for _, p := range e.Problems {
			if p.Line < 0 || p.Line > lines || p.Line > 0 && p.Column < 1 || p.Message == "" {
				t.Errorf("%+v of %d lines", p, lines)
			}
		}
	})
}

func complete(t *testing.T, cfg *Config) {
	if cfg.Listen == "" || cfg.Journal.Path == "" || cfg.Journal.Sync == "" || cfg.Spaces == nil {
		t.Errorf("incomplete: %+v", cfg)
	}
	for name, s := range cfg.Spaces {
		if s.Limits != s.Limits.WithDefaults() || s.Enforcement == "" || s.Protocol == "" {
			t.Errorf("incomplete: %s %+v", name, s)
		}
		if _, ok := s.Participants[s.MCP.Anonymous]; !ok && s.MCP.Anonymous != "" {
			t.Errorf("nobody is %q", s.MCP.Anonymous)
		}
		if len(s.ContextTypes) < len(BuiltinContextTypes()) || len(s.ContextTypes) > mostContextTypes {
			t.Errorf("%s has %d types of contexts", name, len(s.ContextTypes))
		}
		for id, server := range s.MCPServers {
			if _, twice := s.Participants[id]; twice || server.Type == "" || server.Pin == "" || server.Sessions == "" || (server.Command == "") == (server.URL == "") {
				t.Errorf("incomplete: %s %+v", id, server)
			}
		}
		for _, h := range s.Webhooks {
			if h.Name == "" || h.URL.Reveal() == "" || len(h.Secrets) == 0 || len(h.Events) == 0 || h.Timeout == 0 || h.Content == "" {
				t.Errorf("incomplete: %s %+v", name, h)
			}
		}
		for id, p := range s.Participants {
			if p.Routing == "" || id == "parley" || id != strings.ToLower(id) {
				t.Errorf("incomplete: %s %+v", id, p)
			}
		}
	}
}
