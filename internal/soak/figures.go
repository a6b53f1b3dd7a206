package soak

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// figures are what /metrics says, by series: a name, and labels in braces.
type figures map[string]float64

// readFigures reads the text that Prometheus scrapes.
func readFigures(r io.Reader) (figures, error) {
	f := make(figures)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[end+1:], 64)
		if end < 0 || err != nil {
			return nil, fmt.Errorf("soak: not a figure: %.200q", line)
		}
		f[line[:end]] = v
	}
	return f, lines.Err()
}

// sum adds up the series of a name that have all of these labels, each written
// as name="value".
func (f figures) sum(name string, labels ...string) (total float64) {
series:
	for series, v := range f {
		own, rest, _ := strings.Cut(series, "{")
		if own != name {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue series
			}
		}
		total += v
	}
	return total
}

// scrape asks a gateway for its figures.
func scrape(ctx context.Context, c *http.Client, url string) (figures, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("soak: /metrics answers %s", resp.Status)
	}
	return readFigures(resp.Body)
}
