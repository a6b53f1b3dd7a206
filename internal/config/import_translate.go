package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyhq/parley/internal/nearest"
)

// importKeys are what is understood of a client's server.
var importKeys = []string{"type", "transport", "command", "args", "env", "envFile", "cwd", "url", "headers", "disabled"}

// given reports whether a value says something: some programs write every key,
// those that do not apply with nothing in them.
func (v value) given() bool {
	if !v.written() {
		return false
	}
	switch v.kind {
	case stringNode:
		return v.text != ""
	case listNode:
		return len(v.node.items) > 0
	case mapNode:
		return len(v.entries) > 0
	}
	return true
}

// translation is what parley.yaml would say of a client's server.
type translation struct {
	*importer
	keys   map[string]value
	folder string
	out    *node
}

func (im *importer) translate(v value, keys map[string]value, folder string) *node {
	t := &translation{im, keys, folder, &node{kind: mapNode, line: v.line, column: v.col}}
	t.leaveOut(v)
	typ := keys["type"]
	if !typ.given() {
		typ = keys["transport"]
	}
	t.put("type", typ, typ.node)
	if !keys["command"].given() && keys["url"].given() {
		t.remote()
	} else {
		t.local(v)
	}
	return t.out
}

// leaveOut tells of the keys that mean nothing here.
func (t *translation) leaveOut(v value) {
	for _, e := range v.entries {
		if slices.Contains(importKeys, e.key) {
			continue
		}
		hint := ""
		if near := nearest.To(showKey(e.key), importKeys); near != "" {
			hint = "did you mean \"" + near + "\"?"
		}
		t.noteKey(v.child(e), hint, "%s means nothing here, and is left out", showKey(e.key))
	}
}

func (t *translation) put(key string, at value, n *node) {
	if n != nil && at.given() {
		t.out.entries = append(t.out.entries, entry{key: key, value: n, line: at.line, column: at.col})
	}
}

func (t *translation) remote() {
	for _, key := range []string{"args", "env", "envFile", "cwd"} {
		if v := t.keys[key]; v.given() {
			t.note(v, "", "%s has no effect on a server with a url, and is left out", key)
		}
	}
	t.put("url", t.keys["url"], t.fill(t.keys["url"], nil))
	t.put("headers", t.keys["headers"], t.refer(t.keys["headers"]))
}

func (t *translation) local(v value) {
	own := t.members(t.keys["env"])
	t.put("command", t.keys["command"], t.fill(t.keys["command"], own))
	t.put("args", t.keys["args"], t.fill(t.keys["args"], own))
	t.put("url", t.keys["url"], t.keys["url"].node)
	t.cwd(v)
	env := t.refer(t.keys["env"])
	if file := t.keys["envFile"]; file.given() {
		env = t.envFile(file, env)
		t.put("env", file, env)
	} else {
		t.put("env", t.keys["env"], env)
	}
	if t.keys["command"].given() && t.keys["headers"].given() {
		t.note(t.keys["headers"], "", "headers has no effect on a server with a command, and is left out")
	}
}

// cwd is where the program runs, as an absolute path: the file that it is
// written into may stand anywhere.
func (t *translation) cwd(v value) {
	at, text := t.keys["cwd"], ""
	if !at.given() {
		at = value{node: &node{kind: stringNode, text: t.folder}, line: v.line, col: v.col}
		text = t.folder
	} else if n := t.fill(at, nil); n.kind == stringNode {
		text = n.text
	}
	if text == "" || strings.HasPrefix(text, "~") {
		t.put("cwd", at, at.node) // told by whoever reads it
		return
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(t.folder, text)
	}
	t.put("cwd", at, at.with(text))
}

// with is a node with another text.
func (v value) with(text string) *node {
	line, column := v.place()
	return &node{kind: stringNode, text: text, line: line, column: column, size: 1 + len(text), levels: 1}
}

// fill is a text or list of texts without references. What is neither stays as
// it is, to be told by whoever reads it.
func (t *translation) fill(v value, own map[string]value) *node {
	switch {
	case !v.written():
		return v.node
	case v.kind == stringNode:
		return v.with(t.filled(v, v.text, t.folder, own))
	case v.kind != listNode:
		return v.node
	}
	out := *v.node
	out.items = nil
	for _, item := range t.items(v) {
		out.items = append(out.items, t.fill(item, own))
	}
	return &out
}

// refer is a mapping of names to texts, in which references stay. A variable
// without a value, which some clients take out of the environment, is not there.
func (t *translation) refer(v value) *node {
	if !v.written() || v.kind != mapNode {
		return v.node
	}
	out := *v.node
	out.entries = nil
	for _, e := range t.all(v) {
		if !e.written() {
			continue
		}
		n := e.node
		if n.kind == stringNode {
			n = e.with(t.referring(e, e.text, t.folder))
		}
		out.entries = append(out.entries, entry{e.name, n, e.line, e.col})
	}
	return &out
}

// envFile adds the variables of a file to those that are written, which win.
func (t *translation) envFile(v value, env *node) *node {
	out := &node{kind: mapNode}
	out.line, out.column = v.place()
	if env != nil && env.kind != mapNode && env.kind != nullNode {
		return env
	}
	has := make(map[string]bool)
	if env != nil {
		for _, e := range env.entries {
			has[e.key] = true
			out.entries = append(out.entries, e)
		}
	}
	if v.kind != stringNode {
		t.fail(v, "", "envFile is %s, and should be text", v.kind)
		return out
	}
	path := t.filled(v, v.text, t.folder, nil)
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.folder, path)
	}
	variables := t.readEnvFile(v, path)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !has[name] {
			out.entries = append(out.entries, entry{name, v.with(escape(variables[name])), out.line, out.column})
		}
	}
	return out
}
