package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley"
)

// answerWithin is how long a gateway may take to say which spaces it has.
const answerWithin = 30 * time.Second

// onlySpace is the one space of a gateway that the token belongs to.
func onlySpace(ctx context.Context, gateway, token string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, gateway+"/v1/spaces", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", parley.Errorf(parley.Unavailable, "no gateway answers at %s: %v", gateway, errors.Unwrap(err)).
			WithHint("is it running? parley up starts one")
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", fmt.Errorf("asking %s for its spaces: %w", gateway, err)
	}
	if resp.StatusCode != http.StatusOK {
		if e := parley.DecodeError(body); e.Message != "" {
			return "", e
		}
		return "", fmt.Errorf("%s answers with status %d: is there a Parley gateway?", gateway, resp.StatusCode)
	}
	var spaces struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &spaces); err != nil {
		return "", fmt.Errorf("%s does not answer as a Parley gateway does", gateway)
	}
	names := make([]string, len(spaces.Items))
	for i, one := range spaces.Items {
		names[i] = one.Name
	}
	if len(names) == 1 {
		return names[0], nil
	}
	return "", parley.Errorf(parley.InvalidArgument, "the token belongs to %d spaces", len(names)).
		WithHint("name one with --space or PARLEY_SPACE: %s", strings.Join(names, ", "))
}
