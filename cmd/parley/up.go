package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parleyhq/parley/internal/config"
)

// upFlags say what to start.
type upFlags struct {
	config  string
	listen  string
	data    string
	urlFile string
	level   slog.Level
	imports importFlags
}

func newUp(t *terminal) *cobra.Command {
	flags := upFlags{level: slog.LevelWarn}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a gateway, with its spaces and bridges",
		Long: `Start a gateway as parley.yaml of the current folder says, or the file that is
named. Without either: a demo space with a file tool on a scratch folder and a
small agent that proposes something. The demo keeps its state in ` + demoDir + ` below the
current folder, and so remembers what was proposed when it starts again.

With --import the MCP servers that Claude, Cursor or VS Code are configured with join
too: in the demo, you may use them, and the agent may only propose it.

Ctrl-C ends it once everything that was accepted is on record and delivered; a second
one ends it within a second.`,
		Example: `  parley up
  parley up --config parley.yaml --listen 127.0.0.1:7800
  parley up --import ~/.cursor/mcp.json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := flags.plan(t)
			if err != nil {
				return err
			}
			return runUp(cmd.Context(), t, plan)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.config, "config", "c", "", "the configuration `FILE` (else "+configName+", if there is one)")
	f.StringVar(&flags.listen, "listen", "", "`HOST:PORT` in place of the configured one; port 0 is any that is free")
	f.StringVar(&flags.data, "data", demoDir, "the demo's `FOLDER`")
	f.StringVar(&flags.urlFile, "url-file", "", "write the gateway's URL to this `FILE` once it listens (the demo: FOLDER/url)")
	flags.imports.register(f)
	addLevel(f, &flags.level)
	return cmd
}

// addLevel adds --log-level, whose default is what level is.
func addLevel(f *pflag.FlagSet, level *slog.Level) {
	f.TextVar(level, "log-level", *level, "what is logged: `LEVEL` debug, info, warn or error")
	f.Lookup("log-level").DefValue = strings.ToLower(level.String())
}

// plan is what is going to run.
type plan struct {
	config  *config.Config
	demo    *demoPlan // nil with a configuration
	urlFile string
	log     *slog.Logger
	onUp    func(url string) // hears when it listens and its MCP servers have started, or are late; may be nil
}

// plan decides between a configuration and the demo.
func (f *upFlags) plan(t *terminal) (*plan, error) {
	if err := f.imports.check(); err != nil {
		return nil, err
	}
	p := &plan{urlFile: f.urlFile, log: t.logger(f.level)}
	path, err := f.configPath()
	if err != nil {
		return nil, err
	}
	if path != "" {
		p.config, err = loadConfig(path)
	} else {
		p.demo, err = openDemo(f.data)
	}
	if err != nil {
		return nil, err
	}
	if p.demo != nil {
		p.config = p.demo.config
		if p.urlFile == "" {
			p.urlFile = filepath.Join(f.data, "url")
		}
	}
	for _, w := range p.config.Warnings {
		writeProblem(t.err, w, path+": warning")
	}
	if f.listen != "" {
		if err := p.config.ListenOn(f.listen); err != nil {
			return nil, err
		}
	}
	if err := f.imports.into(t, p.config); err != nil {
		return nil, err
	}
	return p, nil
}

// configPath is the configuration that counts; "" is the demo.
func (f *upFlags) configPath() (string, error) {
	if f.config != "" {
		return f.config, nil
	}
	_, err := os.Stat(configName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking for %s: %w", configName, err)
	}
	return configName, nil
}

// runUp starts everything, waits, and ends everything in the other order.
func runUp(ctx context.Context, t *terminal, p *plan) error {
	h, err := openHouse(ctx, p)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.open(ctx); err != nil {
		return err
	}
	a := &announcer{t: t, house: h}
	a.listening()
	guests := h.invite(ctx)
	h.bridge(guests, a)
	h.startModels(guests, a)
	if p.onUp != nil {
		h.guests.Go(func() {
			h.starting.Wait()
			p.onUp(h.url)
		})
	}
	h.summarize(guests)
	h.play(guests, a)
	return h.serve(ctx, a)
}
