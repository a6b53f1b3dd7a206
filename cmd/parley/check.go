package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/webhook"
)

// configName is the configuration that is looked for in the current folder.
const configName = "parley.yaml"

func newCheck(t *terminal) *cobra.Command {
	var imports importFlags
	var answers responseFlags
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration, and show all its mistakes at once",
		Long: `Read a configuration, parley.yaml of the current folder unless another is named, as
"parley up" would, and show everything that is wrong with it. Nothing is
started.

With --import, show instead what parley.yaml would say of the MCP servers that another
program is configured with. Secrets do not show: what is written there literally
becomes a reference to an environment variable, which you set.

With --response, check the configuration of tools' answers instead, as a tool or a
bridge would read it.`,
		Example: `  parley check
  parley check /etc/parley/parley.yaml
  parley check --import .vscode/mcp.json
  parley check --response .parley/response_config.json`,
		Args: arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := imports.check(); err != nil {
				return err
			}
			if err := answers.check(&imports, args); err != nil {
				return err
			}
			if answers.asked() {
				return answers.run(t)
			}
			path := configName
			if len(args) == 1 {
				path = args[0]
			}
			if len(imports.files) > 0 {
				return checkImport(t, &imports, path, len(args) == 1)
			}
			c, err := loadConfig(path)
			if err != nil {
				return err
			}
			for _, w := range c.Warnings {
				writeProblem(t.err, w, path+": warning")
			}
			warnServers(t, path, c)
			return t.printSummary(path, c)
		},
	}
	imports.register(cmd.Flags())
	answers.register(cmd.Flags())
	return cmd
}

// warnServers says which MCP servers and models could not be started from here
// and now. That is no mistake of the file's.
func warnServers(t *terminal, path string, c *config.Config) {
	_, noModels := findModelProgram()
	for name, s := range config.Sorted(c.Spaces) {
		for id, m := range config.Sorted(s.MCPServers) {
			if err := bridgeServer(m).Check(); err != nil {
				e := asError(err)
				writeProblem(t.err, config.Problem{Message: "spaces." + name + ".mcp_servers." + id + ": " + e.Message, Hint: e.Hint}, path+": warning")
			}
		}
		if len(s.Models) > 0 && noModels != nil {
			e := asError(noModels)
			writeProblem(t.err, config.Problem{Message: "spaces." + name + ".models: " + e.Message, Hint: e.Hint}, path+": warning")
		}
	}
}

// loadConfig is config.Load with a word for whoever has no such file.
func loadConfig(path string) (*config.Config, error) {
	c, err := config.Load(path)
	return c, orNoConfig(path, err)
}

func orNoConfig(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return parley.Errorf(parley.NotFound, "there is no %s", path).
			WithHint("name the file, or run parley up without one for a demo space")
	}
	return err
}

func (t *terminal) printSummary(path string, c *config.Config) error {
	if t.asJSON() {
		return t.writeValue(summaryOf(path, c))
	}
	fmt.Fprintf(t.out, "%s is good: listens on %s, journal %s (sync: %s)\n", path, c.Listen, c.Journal.Path, c.Journal.Sync)
	for name, s := range config.Sorted(c.Spaces) {
		fmt.Fprintf(t.out, "  space %s, %s\n", name, s.Enforcement)
		if bounds := s.Retention.String(); bounds != "" {
			fmt.Fprintf(t.out, "    retention drops for good what is %s\n", bounds)
		}
		for id, p := range config.Sorted(s.Participants) {
			how := tokens(len(p.TokenHashes))
			if id == s.MCP.Anonymous {
				how += "; MCP clients without a token act as it"
			}
			fmt.Fprintf(t.out, "    %s: %s, %s\n", id, plural(len(p.Capabilities), "capability", "capabilities"), how)
		}
		for id, m := range config.Sorted(s.MCPServers) {
			fmt.Fprintf(t.out, "    %s: MCP server, %s\n", id, serverName(m))
		}
		for id, m := range config.Sorted(s.Models) {
			fmt.Fprintf(t.out, "    %s: %s, %s\n", id, plural(len(m.Names()), "model", "models"), strings.Join(m.Names(), ", "))
		}
		for _, w := range s.Webhooks {
			t.printHook(w)
		}
	}
	return nil
}

// printHook says what leaves the house by a webhook, and where it goes.
func (t *terminal) printHook(w *config.Webhook) {
	what := "without what participants write"
	if w.Content == config.ContentFull {
		what = "with what participants write"
	}
	if len(w.Approvers) > 0 {
		what += ", with links to decide as " + strings.Join(w.Approvers, ", ")
	}
	fmt.Fprintf(t.out, "    webhook %s: %s to %s, %s\n", w.Name, plural(len(w.Events), "kind of event", "kinds of events"), webhook.Shown(w.URL.Reveal()), what)
}

func tokens(n int) string {
	switch n {
	case 0:
		return "no token"
	case 1:
		return "one token"
	}
	return fmt.Sprintf("%d tokens", n)
}

// serverName says what runs without arguments, which may hold secrets.
func serverName(m *config.MCPServer) string {
	if m.URL != "" {
		return bridgeServer(m).String()
	}
	return m.Command
}

type summary struct {
	OK     bool           `json:"ok"`
	File   string         `json:"file"`
	Listen string         `json:"listen"`
	Spaces []spaceSummary `json:"spaces"`
}

type spaceSummary struct {
	Name         string   `json:"name"`
	Enforcement  string   `json:"enforcement"`
	Participants []string `json:"participants"`
	MCPServers   []string `json:"mcp_servers"`
	Models       []string `json:"models,omitempty"`
	Webhooks     []string `json:"webhooks,omitempty"`
}

func summaryOf(path string, c *config.Config) summary {
	s := summary{OK: true, File: path, Listen: c.Listen}
	for name, space := range config.Sorted(c.Spaces) {
		one := spaceSummary{Name: name, Enforcement: string(space.Enforcement)}
		for id := range config.Sorted(space.Participants) {
			one.Participants = append(one.Participants, id)
		}
		for id := range config.Sorted(space.MCPServers) {
			one.MCPServers = append(one.MCPServers, id)
		}
		for id := range config.Sorted(space.Models) {
			one.Models = append(one.Models, id)
		}
		for _, w := range space.Webhooks {
			one.Webhooks = append(one.Webhooks, w.Name)
		}
		s.Spaces = append(s.Spaces, one)
	}
	return s
}
