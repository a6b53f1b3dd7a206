package parley

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Context names the line of reasoning or the workflow that an envelope belongs
// to (section 8 of the contract).
type Context struct {
	ID       string
	Type     string
	Parent   string
	Metadata jsontext.Value // an object, as it was sent; nil where absent

	raw     jsontext.Value // the whole field as it was sent
	invalid *Error         // why [Context.Check] refuses it
}

// Check reports what is wrong with the context's syntax, as invalid_context.
// A decoded envelope may carry a context that does not pass: it is judged
// after its sender's rate and identity.
func (c *Context) Check() error {
	if c == nil {
		return nil
	}
	if c.invalid != nil {
		return c.invalid
	}
	if !ValidID(c.ID) {
		return Errorf(InvalidContext, "context id %.40q is not 1 to %d visible ASCII characters", c.ID, MaxID)
	}
	if len(c.Type) > MaxID {
		return Errorf(InvalidContext, "context type %.40q is longer than %d bytes", c.Type, MaxID)
	}
	if c.Parent == "" {
		return nil
	}
	if !ValidID(c.Parent) {
		return Errorf(InvalidContext, "context parent %.40q is not 1 to %d visible ASCII characters", c.Parent, MaxID)
	}
	if c.Parent == c.ID {
		return Errorf(InvalidContext, "context %q is its own parent", c.ID)
	}
	return nil
}

// decodeContext reads the field, a string or an object. It never fails: what is wrong
// is kept for Check.
func decodeContext(raw jsontext.Value) *Context {
	c := &Context{raw: raw}
	if raw.Kind() == '"' {
		c.fromPath(unquote(raw))
	} else {
		c.fromObject(raw)
	}
	return c
}

// fromPath takes MCPP's later string form: "a/b/c" is the context "a/b/c" with
// parent "a/b".
func (c *Context) fromPath(path string) {
	c.ID = path
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		c.Parent = path[:i]
	}
}

func (c *Context) fromObject(raw jsontext.Value) {
	for name, value := range members(raw) {
		var field *string
		switch name {
		case "id":
			field = &c.ID
		case "type":
			field = &c.Type
		case "parent":
			field = &c.Parent
		case "metadata":
			c.Metadata = value
			if value.Kind() != '{' {
				c.invalid = Errorf(InvalidContext, "context.metadata is %s, not an object", kindName(value.Kind()))
			}
			continue
		default:
			if known := foldsTo(name, "id", "type", "parent", "metadata"); known != "" {
				c.invalid = Errorf(InvalidContext, "context has a member %q, which only differs from %q by case", name, known)
			}
			continue
		}
		if value.Kind() != '"' {
			c.invalid = Errorf(InvalidContext, "context.%s is %s, not a string", name, kindName(value.Kind()))
			continue
		}
		*field = unquote(value)
	}
	if c.invalid == nil && c.ID == "" {
		c.invalid = Errorf(InvalidContext, "context.id is missing")
	}
}

func (c *Context) append(dst []byte) []byte {
	if c.raw != nil {
		return append(dst, c.raw...)
	}
	dst = appendString(append(dst, `{"id":`...), c.ID)
	if c.Type != "" {
		dst = appendString(append(dst, `,"type":`...), c.Type)
	}
	if c.Parent != "" {
		dst = appendString(append(dst, `,"parent":`...), c.Parent)
	}
	if c.Metadata != nil {
		dst = append(append(dst, `,"metadata":`...), c.Metadata...)
	}
	return append(dst, '}')
}

// Raw is the context as it was sent, or, where it was made here, as it will
// be; nil for none.
func (c *Context) Raw() jsontext.Value {
	if c == nil {
		return nil
	}
	return c.append(nil)
}

// Size is the length of Raw, about.
func (c *Context) Size() int {
	if c == nil {
		return 0
	}
	return len(c.raw) + len(c.ID) + len(c.Type) + len(c.Parent) + len(c.Metadata) + 60
}
