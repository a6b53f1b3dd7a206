// Package deploy holds what an operator installs: a service, a dashboard,
// alerts. Its tests see that these speak of what a gateway really serves.
package deploy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/filetool"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/response"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/internal/webhook"
)

// serverEnv names the folder for which the test binary is a file tool instead.
const serverEnv = "PARLEY_TEST_FILES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverEnv); dir != "" {
		_ = filetool.Run(context.Background(), dir, nil)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// leftOut are the gateway's figures that the dashboard does not show, and why.
var leftOut = map[string]string{
	"parley_journal_last_seq":    "grows as parley_envelopes_admitted_total does, which is shown as a rate",
	"parley_contexts_remembered": "bounded, and of interest only where something is amiss",
}

func TestDashboard(t *testing.T) {
	var d struct {
		UID           string
		Title         string
		SchemaVersion int
		Panels        []panel
		Templating    struct{ List []variable }
		Annotations   struct{ List []struct{ Name, Expr string } }
	}
	readJSON(t, "grafana/parley.json", &d)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 {
		t.Errorf("%q, %q, schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	served := scrape(t)
	used := map[string]bool{}
	variables := map[string]bool{"__rate_interval": true}
	for _, v := range d.Templating.List {
		variables[v.Name] = true
		if v.Type == "query" {
			served.check(t, "variable "+v.Name, v.Query.(map[string]any)["query"].(string), used)
		}
	}
	for _, a := range d.Annotations.List {
		if a.Expr != "" {
			served.check(t, "annotation "+a.Name, a.Expr, used)
		}
	}
	checkGrid(t, d.Panels)
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("panel %d, %q, lacks a title, a description, a query or a unit", p.ID, p.Title)
		}
		for _, q := range p.Targets {
			served.check(t, "panel "+p.Title, q.Expr, used)
			for _, v := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(q.Expr, -1) {
				if !variables[v[1]] {
					t.Errorf("panel %s: there is no variable %s", p.Title, v[0])
				}
			}
		}
	}
	for _, name := range served.families() {
		if ours := strings.HasPrefix(name, "parley_"); ours && used[name] == (leftOut[name] != "") {
			t.Errorf("%s: on the dashboard: %v; left out since: %q", name, used[name], leftOut[name])
		}
	}
	for name := range leftOut {
		if _, ok := served.types[name]; !ok {
			t.Errorf("%s is left out and not there", name)
		}
	}
}

// What operators read names every figure, and none that is not there.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	served := scrape(t)
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile("`(parley_[a-z_]+)").FindAllStringSubmatch(string(text), -1) {
		documented[name[1]] = true
		if served.types[name[1]] == "" {
			t.Errorf("there is no %s", name[1])
		}
	}
	for _, name := range served.families() {
		if strings.HasPrefix(name, "parley_") && !documented[name] {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

type panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr string }
	FieldConfig struct{ Defaults struct{ Unit string } }
}

type variable struct {
	Name, Type string
	Query      any
}

// checkGrid sees that no panel lies on another or beside the page.
func checkGrid(t *testing.T, panels []panel) {
	t.Helper()
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("panel %q is at %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("the panels %q and %q overlap", other, p.Title)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

func TestAlerts(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert       string
				Expr        string
				For         string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	readYAML(t, "alerts.yml", &rules)
	served := scrape(t)
	var names []string
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			names = append(names, r.Alert)
			grouped := served.check(t, r.Alert, r.Expr, map[string]bool{})
			if s := r.Labels["severity"]; s != "page" && s != "ticket" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			for _, part := range []string{"summary", "action"} {
				if r.Annotations[part] == "" {
					t.Errorf("%s has no %s", r.Alert, part)
				}
			}
			for _, l := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(r.Annotations["summary"], -1) {
				if !slices.Contains(grouped, l[1]) {
					t.Errorf("%s speaks of the label %s, which its expression does not keep", r.Alert, l[1])
				}
			}
		}
	}
	slices.Sort(names)
	if len(names) < 5 || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("the alerts are %q", names)
	}
}

// The alerts are tried by Prometheus itself, where that is installed or could be
// fetched.
func TestAlertsWithPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		promtool, err = exec.LookPath("../.cache/debian/prometheus/usr/bin/promtool")
	}
	if err != nil {
		t.Skip("there is no promtool (scripts/fetch-test-deps fetches Debian's)")
	}
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "alerts.yml"},
		{"test", "rules", "alerts_test.yml"},
	} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func TestPrometheusConfig(t *testing.T) {
	var c struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName string `yaml:"job_name"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "prometheus.yml", &c)
	if !slices.Equal(c.RuleFiles, []string{"alerts.yml"}) || len(c.ScrapeConfigs) != 1 || c.ScrapeConfigs[0].JobName != "parley" {
		t.Errorf("%+v", c)
	}
}

// samples is what a gateway serves to Prometheus.
type samples struct {
	types map[string]string // of families, by name
	lines map[string][]map[string]string
}

func (s *samples) families() (names []string) {
	for name := range s.types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// family is the name under which a series is described.
func (s *samples) family(series string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if name, ok := strings.CutSuffix(series, suffix); ok && s.types[name] == "histogram" {
			return name
		}
	}
	return series
}

// check sees that all that an expression names is served, and notes the
// families in used. It returns the labels that its result may have.
func (s *samples) check(t *testing.T, where, expr string, used map[string]bool) (labels []string) {
	t.Helper()
	e, err := parse(expr)
	if err != nil {
		t.Errorf("%s: %s: %v", where, expr, err)
		return nil
	}
	if len(e.selectors) == 0 {
		t.Errorf("%s: %s selects nothing", where, expr)
	}
	labels = []string{"job", "instance"} // Prometheus adds them
	for _, sel := range e.selectors {
		lines := s.lines[sel.metric]
		if sel.metric == "up" { // Prometheus makes it
			lines = []map[string]string{{}}
		}
		if lines == nil {
			t.Errorf("%s: there is no %s", where, sel.metric)
			continue
		}
		used[s.family(sel.metric)] = true
		for name := range lines[0] {
			labels = append(labels, name)
		}
		for _, m := range sel.matchers {
			if problem := missing(lines, m); problem != "" {
				t.Errorf("%s: %s: %s", where, sel.metric, problem)
			}
		}
	}
	for _, name := range e.grouped {
		if !slices.Contains(labels, name) {
			t.Errorf("%s: no label %s in %s", where, name, expr)
		}
	}
	if len(e.grouped) > 0 {
		return e.grouped
	}
	return labels
}

// missing says what of a matcher no series has.
func missing(lines []map[string]string, m matcher) string {
	if m.label == "job" || m.label == "instance" {
		return ""
	}
	values := map[string]bool{}
	for _, l := range lines {
		if v, ok := l[m.label]; ok {
			values[v] = true
		}
	}
	if len(values) == 0 {
		return "no label " + m.label
	}
	if strings.Contains(m.value, "$") { // the viewer's choice
		return ""
	}
	for v := range strings.SplitSeq(m.value, "|") {
		if !values[v] {
			return fmt.Sprintf("%s is never %q", m.label, v)
		}
	}
	return ""
}

// scrape is what a gateway with a bridge serves after some traffic. It is asked
// once for all tests.
func scrape(t *testing.T) *samples {
	t.Helper()
	body, err := metricsOnce()
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSamples(body)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var metricsOnce = sync.OnceValues(metrics)

var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$`)
var label = regexp.MustCompile(`([a-zA-Z_]\w*)=("(?:[^"\\]|\\.)*")`)

// readSamples reads the text that Prometheus reads.
func readSamples(body string) (*samples, error) {
	s := &samples{types: map[string]string{}, lines: map[string][]map[string]string{}}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			s.types[name] = kind
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("no sample: %q", line)
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			v, err := strconv.Unquote(l[2])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			labels[l[1]] = v
		}
		s.lines[m[1]] = append(s.lines[m[1]], labels)
	}
	return s, nil
}

// metrics runs a gateway on a journal on disk with the file tool in its room,
// has something said, asked and proposed, and asks for its figures.
func metrics() (body string, err error) {
	dir, err := os.MkdirTemp("", "parley-deploy-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	j, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "parley.db")})
	if err != nil {
		return "", err
	}
	defer j.Close()
	g, err := gateway.New(ctx, gateway.Options{Journal: j, Spaces: []gateway.Space{room()}})
	if err != nil {
		return "", err
	}
	defer g.Shutdown(context.Background())
	server := httptest.NewServer(g.Handler())
	defer server.Close()
	ended, err := bridge(ctx, g, server.URL, dir)
	if err != nil {
		return "", err
	}
	defer func() { cancel(); <-ended }()
	if err := talk(ctx, server.URL); err != nil {
		return "", err
	}
	for range 2 { // a request is counted once it is answered
		if body, err = get(server.URL + "/metrics"); err != nil {
			return "", err
		}
	}
	return body, nil
}

func room() gateway.Space {
	s := gateway.Space{
		Rules:        space.Rules{Name: "demo", Participants: map[string]parley.Capabilities{}},
		Participants: map[string]gateway.Participant{},
	}
	for _, id := range []string{"you", "files"} {
		s.Rules.Participants[id] = parley.Capabilities{parley.MustCapability("mcp/*"), parley.MustCapability("chat")}
		s.Participants[id] = gateway.Participant{Tokens: []gateway.TokenHash{sha256.Sum256([]byte("token-of-" + id))}}
	}
	return s
}

// bridge takes the file tool into the room. The channel is closed when it has
// left.
func bridge(ctx context.Context, g *gateway.Gateway, url, dir string) (ended chan struct{}, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	mcpfront.NewMetrics(g.Registerer("demo"))
	webhook.NewMetrics(g.Registerer("demo")).Track("ops")
	joined, failed, ended := make(chan string, 1), make(chan error, 1), make(chan struct{})
	b := mcpbridge.NewBridge(mcpbridge.Server{Command: exe, Env: map[string]string{serverEnv: dir, "GOCOVERDIR": dir}}, mcpbridge.Join{
		URL: url, Token: "token-of-files", Space: "demo",
		Metrics: mcpbridge.NewMetrics(g.Registerer("demo"), "files"),
		Wrap:    response.NewSource(response.SourceOptions{Dir: dir, Home: dir, Getenv: func(string) string { return "" }}),
		OnJoin:  func(who string) { joined <- who },
	})
	go func() {
		defer close(ended)
		failed <- b.Run(ctx)
	}()
	select {
	case <-joined:
		return ended, nil
	case err := <-failed:
		return nil, fmt.Errorf("the bridge ended: %w", err)
	}
}

func talk(ctx context.Context, url string) error {
	you, err := client.Dial(ctx, url, &client.Options{Token: "token-of-you", Space: "demo"})
	if err != nil {
		return err
	}
	defer you.Close()
	if _, err := you.Request(ctx, "files", "tools/list", nil); err != nil {
		return err
	}
	if _, err := you.Request(ctx, "files", "tools/call", map[string]any{"name": "list_directory", "arguments": map[string]any{"path": "."}}); err != nil {
		return err
	}
	_, err = you.Propose(ctx, "files", "tools/list", nil)
	return err
}

func get(url string) (string, error) {
	res, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return string(body), err
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
