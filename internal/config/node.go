package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Bounds of what aliases and merge keys make of the text.
const (
	maxNodes    = 1 << 20
	maxExpanded = 16 << 20
)

// node is one value of the file. An alias is the node that it names: nodes are
// shared and never changed.
type node struct {
	kind         nodeKind
	text         string  // of a scalar: a string's value, a number's text as written
	items        []*node // of a list
	entries      []entry // of a mapping, in the order of the file
	line, column int

	// How large the node is with every alias written out.
	size   int
	levels int
}

type entry struct {
	key          string
	value        *node
	line, column int // of the key
}

type nodeKind int

const (
	nullNode nodeKind = iota
	stringNode
	numberNode
	boolNode
	listNode
	mapNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "text", "a number", "true or false", "a list", "a mapping of keys"}[k]
}

// converter makes nodes of the library's tree.
type converter struct {
	anchors  map[string]*node // defined so far, so that no alias is inside of what it names
	problems []Problem
	made     int // nodes and entries
	full     bool
}

// convertFile makes a node of the one document of a file; of an empty file an
// empty one.
func convertFile(file *ast.File) (*node, []Problem) {
	c := &converter{anchors: make(map[string]*node)}
	var root *node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			tk := doc.Body.GetToken()
			if doc.Start != nil {
				tk = doc.Start
			}
			return nil, []Problem{*problemAt(tk, "the file holds more than one document", "remove the --- line, or write a file for each")}
		}
		if root = c.convert(doc.Body); root == nil {
			return nil, c.problems
		}
	}
	switch {
	case c.full, root != nil && root.size > maxExpanded:
		return nil, append(c.problems, Problem{Message: "aliases and merge keys make too much of the file", Hint: "write out what is meant"})
	case root == nil:
		root = &node{line: 1, column: 1}
	}
	return root, c.problems
}

// convert is nil for an alias of nothing, which is a problem told already.
func (c *converter) convert(from ast.Node) *node {
	if c.made++; c.made > maxNodes {
		c.full = true
		return &node{size: 1}
	}
	n := &node{size: 1, levels: 1}
	if from == nil {
		return n
	}
	n.place(from.GetToken())
	switch from := from.(type) {
	case *ast.NullNode:
	case *ast.StringNode:
		n.scalar(stringNode, from.Value)
	case *ast.LiteralNode:
		n.scalar(stringNode, from.Value.Value)
	case *ast.BoolNode:
		n.scalar(boolNode, from.Token.Value)
	case *ast.IntegerNode:
		n.scalar(numberNode, from.Token.Value)
	case *ast.FloatNode:
		n.scalar(numberNode, from.Token.Value)
	case *ast.InfinityNode:
		n.scalar(numberNode, from.Token.Value)
	case *ast.NanNode:
		n.scalar(numberNode, from.Token.Value)
	case *ast.SequenceNode:
		c.list(n, from)
	case *ast.MappingNode:
		c.mapping(n, from.Values)
		if !from.IsFlowStyle && len(from.Values) > 0 {
			n.place(from.Values[0].Key.GetToken()) // the library's is the first colon
		}
	case *ast.MappingValueNode:
		c.mapping(n, []*ast.MappingValueNode{from})
	case *ast.AnchorNode:
		value := c.convert(from.Value)
		if value != nil {
			c.anchors[from.Name.GetToken().Value] = value
		}
		return value
	case *ast.AliasNode:
		return c.alias(from)
	default:
		c.problem(from, "this kind of YAML is not supported", "")
	}
	return n
}

func (n *node) place(tk *token.Token) {
	if tk != nil && tk.Position != nil {
		n.line, n.column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	}
}

func (n *node) scalar(kind nodeKind, text string) {
	n.kind, n.text = kind, text
	n.size += len(text)
}

// add counts a part in; the sum stops growing before it could overflow.
func (n *node) add(part *node) {
	n.size = min(n.size+part.size, maxExpanded+1)
	n.levels = max(n.levels, part.levels+1)
}

func (c *converter) list(n *node, from *ast.SequenceNode) {
	n.kind = listNode
	for _, item := range from.Values {
		part := c.convert(item)
		if part == nil {
			continue
		}
		n.items = append(n.items, part)
		n.add(part)
	}
}

func (c *converter) alias(from *ast.AliasNode) *node {
	name := from.Value.GetToken().Value
	if value, ok := c.anchors[name]; ok {
		return value
	}
	c.problem(from, "*"+showKey(name)+" names no anchor above", fmt.Sprintf(`write &%s before the value that is meant, or put quotes around a pattern, as "*"`, showKey(name)))
	return nil
}

// mapping fills in the entries: first those that are written, which win, then
// those that are merged in with <<.
func (c *converter) mapping(n *node, from []*ast.MappingValueNode) {
	n.kind = mapNode
	seen := make(map[string]entry, len(from))
	var merges []*node
	for _, pair := range from {
		value := c.convert(pair.Value)
		if value == nil {
			continue
		}
		if _, ok := pair.Key.(*ast.MergeKeyNode); ok {
			merges = append(merges, c.merged(pair, value)...)
			continue
		}
		e, ok := c.key(pair.Key)
		if !ok {
			continue
		}
		if first, twice := seen[e.key]; twice {
			c.problem(pair.Key, fmt.Sprintf("key %q is written twice", showKey(e.key)), fmt.Sprintf("the first one is on line %d", first.line))
			continue
		}
		e.value = value
		seen[e.key] = e
		n.entries = append(n.entries, e)
		n.add(value)
		n.size = min(n.size+len(e.key), maxExpanded+1)
	}
	c.merge(n, seen, merges)
}

// key is the entry of a key, without its value.
func (c *converter) key(from ast.MapKeyNode) (entry, bool) {
	var text string
	switch from := from.(type) {
	case *ast.StringNode:
		text = from.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = from.GetToken().Value
	default:
		c.problem(from, "this cannot be a key", "write KEY: VALUE, with quotes around a key with special characters")
		return entry{}, false
	}
	at := node{line: 1, column: 1}
	at.place(from.GetToken())
	return entry{key: text, line: at.line, column: at.column}, true
}

// merged is what << names: a mapping or a list of mappings.
func (c *converter) merged(pair *ast.MappingValueNode, value *node) []*node {
	sources := []*node{value}
	if value.kind == listNode {
		sources = value.items
	}
	for _, s := range sources {
		if s.kind != mapNode {
			c.problem(pair.Key, "<< merges mappings, and this is "+s.kind.String(), "")
			return nil
		}
	}
	return sources
}

func (c *converter) merge(n *node, seen map[string]entry, sources []*node) {
	for _, source := range sources {
		for _, e := range source.entries {
			if c.made++; c.made > maxNodes {
				c.full = true
				return
			}
			if _, ok := seen[e.key]; ok {
				continue
			}
			seen[e.key] = e
			n.entries = append(n.entries, e)
			n.add(e.value)
			n.size = min(n.size+len(e.key), maxExpanded+1)
		}
	}
}

func (c *converter) problem(at ast.Node, message, hint string) {
	if tk := at.GetToken(); tk != nil && len(c.problems) < maxNodes {
		c.problems = append(c.problems, *problemAt(tk, message, hint))
	}
}

// showKey is as much of a key as may be shown: where a blank after a colon is
// missing, a token becomes a part of the key.
func showKey(key string) string {
	end := strings.IndexFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end < 0 && len(key) <= 64 {
		return key
	}
	if end < 0 || end > 40 {
		end = 40
	}
	return key[:end] + "…"
}
