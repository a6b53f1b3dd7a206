package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The configuration in docs/tictactoe.md is one.
func TestConfigurationOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/tictactoe.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("there is no configuration in it")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "parley.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program(t, "parley"), "check")
	cmd.Dir = dir
	cmd.Env = append(environment(dir), "YOU_TOKEN=a-token-that-nobody-can-guess-0123456789")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
