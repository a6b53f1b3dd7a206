package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// findContext is the id of the context that somebody named: by its id, which may
// be one that only its descendants name, or by how a recent one's begins.
func findContext(ctx context.Context, rec record, name string) (string, error) {
	// Who opens a context chooses its id: one that looks like the short form of
	// another's must not pass for it.
	if !isShortUUID(name) {
		known, err := hasTree(ctx, rec, name)
		if err != nil || known {
			return name, err
		}
	}
	found, err := contextsLike(ctx, rec, name)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", noContext(name)
	case len(found) > 1:
		return "", parley.Errorf(parley.InvalidArgument, "the ids of %d contexts begin with %s", len(found), name).
			WithHint("write more of it: %s", strings.Join(found[:min(len(found), 5)], ", "))
	}
	return found[0], nil
}

// findToRead is the context that somebody wants to read, with what is nested in it or
// alone: then something must have been said in it.
func findToRead(ctx context.Context, rec record, name string, alone bool) (string, error) {
	id, err := findContext(ctx, rec, name)
	if err != nil || !alone {
		return id, err
	}
	if _, err = rec.context(ctx, id); errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		err = parley.Errorf(parley.NotFound, "nothing was said in %.130q itself", id).
			WithHint("to read what is nested in it: replay without --only, list and search with --subtree")
	}
	return id, err
}

// hasTree reports whether a context was opened, or one below it.
func hasTree(ctx context.Context, rec record, id string) (bool, error) {
	for _, err := range rec.contexts(ctx, &client.ContextQuery{Tree: id, Limit: 1}) {
		if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}

// contextsLike are the recent contexts whose ids begin with prefix.
func contextsLike(ctx context.Context, rec record, prefix string) ([]string, error) {
	if len(prefix) < leastPrefix {
		return nil, nil
	}
	var found []string
	for c, err := range rec.contexts(ctx, &client.ContextQuery{Descending: true, Limit: recent}) {
		if err != nil {
			return nil, err
		}
		for _, id := range []string{c.ID, c.Parent} {
			if strings.HasPrefix(id, prefix) && !slices.Contains(found, id) {
				found = append(found, id)
			}
		}
	}
	return found, nil
}
