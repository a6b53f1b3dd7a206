package syntax

import (
	"iter"
	"unsafe"
)

// Tree is the concrete syntax tree of a Python, JavaScript or TypeScript file:
// every token is a node. It lies in one piece of memory, in the order of the
// text, and is never changed, so that it may be read from any goroutine and
// needs no closing.
type Tree struct {
	grammar *grammar
	source  []byte
	nodes   []node
}

// Node is a place in a [Tree]. The zero Node is no place: [Node.OK] is false,
// and all else about it is empty. Kinds and fields are those of the grammar,
// as its node-types.json lists them.
type Node struct {
	tree  *Tree
	index int32
}

// Root is the node of the whole file.
func (t *Tree) Root() Node {
	if t == nil || len(t.nodes) == 0 {
		return Node{}
	}
	return Node{t, 0}
}

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// bytes is what the tree takes of memory.
func (t *Tree) bytes() int64 { return int64(len(t.nodes)) * int64(unsafe.Sizeof(node{})) }

func (n Node) at() *node { return &n.tree.nodes[n.index] }

// OK says whether there is such a node.
func (n Node) OK() bool { return n.tree != nil }

// Index is the node's place among the tree's nodes, in the order of the text.
func (n Node) Index() int { return int(n.index) }

// Kind is the name of the grammar's rule, or the token itself for one that has
// no name, such as "(".
func (n Node) Kind() string {
	if !n.OK() {
		return ""
	}
	return n.tree.grammar.kind(uint16(n.at().symbol))
}

// FieldName is under which name the parent has this node; "" for none.
func (n Node) FieldName() string {
	if !n.OK() {
		return ""
	}
	return n.tree.grammar.fields[n.at().field]
}

// Named says whether the node has a rule of its own, so is more than a token of
// punctuation or a keyword.
func (n Node) Named() bool { return n.OK() && n.at().flags&flagNamed != 0 }

// IsMissing says whether the node is a token that the parser put in where the
// text lacks it.
func (n Node) IsMissing() bool { return n.OK() && n.at().flags&flagMissing != 0 }

// Start is the offset of the first byte.
func (n Node) Start() int {
	if !n.OK() {
		return 0
	}
	return int(n.at().start)
}

// End is the offset after the last byte.
func (n Node) End() int {
	if !n.OK() {
		return 0
	}
	return int(n.at().end)
}

// Text is the node's source text.
func (n Node) Text() string { return string(n.Bytes()) }

// Bytes is the node's source text, which must not be changed.
func (n Node) Bytes() []byte {
	if !n.OK() {
		return nil
	}
	return n.tree.source[n.Start():n.End()]
}

// Parent is the node around this one; none for the root.
func (n Node) Parent() Node {
	if !n.OK() || n.at().parent < 0 {
		return Node{}
	}
	return Node{n.tree, int32(n.at().parent)}
}

// Contains says whether m is n or lies below it.
func (n Node) Contains(m Node) bool {
	return n.OK() && n.tree == m.tree && n.index <= m.index && m.index < n.after()
}

// after is the index of what follows the node's subtree.
func (n Node) after() int32 { return n.index + int32(n.at().size) }

// Children are the nodes directly below, tokens included.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.OK() {
			return
		}
		for c := (Node{n.tree, n.index + 1}); c.index < n.after(); c.index = c.after() {
			if !yield(c) {
				return
			}
		}
	}
}

// NamedChildren are the nodes directly below that are more than tokens,
// comments among them.
func (n Node) NamedChildren() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for c := range n.Children() {
			if c.Named() && !yield(c) {
				return
			}
		}
	}
}

// All are the node and everything below it, parents first. It does not recurse,
// so that a deep tree costs no stack.
func (n Node) All() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.OK() {
			return
		}
		for m := n; m.index < n.after(); m.index++ {
			if !yield(m) {
				return
			}
		}
	}
}

// Field is the first child that the grammar calls name.
func (n Node) Field(name string) Node {
	if !n.OK() {
		return Node{}
	}
	id, ok := n.tree.grammar.fieldIDs[name]
	if !ok {
		return Node{}
	}
	for c := range n.Children() {
		if uint8(c.at().field) == id {
			return c
		}
	}
	return Node{}
}

// Child is the first child of a kind.
func (n Node) Child(kind string) Node {
	for c := range n.Children() {
		if c.Kind() == kind {
			return c
		}
	}
	return Node{}
}
