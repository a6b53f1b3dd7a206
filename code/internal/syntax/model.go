package syntax

import (
	"go/ast"
	"go/token"
)

// File is a parsed file. Nothing in it may be changed: it is shared with
// whoever else asked for the same file.
type File struct {
	Path     string // relative to the served folder, with slashes; "" for text without a file
	Language Language
	Source   []byte

	Functions []Function // in the order of the text, nested ones too
	Classes   []Class    // in the order of the text
	Variables []Variable // of the file's top level, in the order of the text
	Imports   []Import   // in the order of the text
	Lines     Lines
	Errors    []Error // at most MaxErrors, in the order of the text

	Tree *Tree   // nil for Go
	Go   *GoTree // nil for all but Go

	lines   []int32 // the offset at which each line begins
	derived derived
}

// GoTree is what go/parser made of a file, comments included, objects not
// resolved. Declarations with syntax errors are missing.
type GoTree struct {
	File *ast.File
	Set  *token.FileSet
	tok  *token.File
}

// Offset is the byte offset of a position.
func (g *GoTree) Offset(p token.Pos) int {
	if !p.IsValid() {
		return 0
	}
	return g.tok.Offset(p)
}

// Span is a piece of a file.
type Span struct {
	Start, End         int // byte offsets; End is the first one after it
	Line, Column       int // of the first byte, from 1; columns count bytes
	EndLine, EndColumn int // of the last byte, from 1
}

// Lines says how many lines are of which sort. A line is blank where it has
// only white space (also within a string), a comment where all else on it
// belongs to comments or, in Python, to a docstring, and code otherwise. The
// empty text after the last line break is no line.
type Lines struct{ Total, Code, Comment, Blank int }

// Error is a place that does not fit the language. Message never repeats what
// the file says.
type Error struct {
	Span
	Message string
}

// FunctionKind is what sort of function it is.
type FunctionKind string

// The kinds of functions.
const (
	PlainFunction FunctionKind = "function"
	Method        FunctionKind = "method"
	Constructor   FunctionKind = "constructor"
	Getter        FunctionKind = "getter"
	Setter        FunctionKind = "setter"
	Arrow         FunctionKind = "arrow"  // JavaScript's x => x
	Lambda        FunctionKind = "lambda" // Python's lambda, and Go's func literals
)

// Function is a function with a body: declarations without one, such as those
// of interfaces and overloads, are none.
type Function struct {
	// Name is how the function is declared, or what it is assigned to where it
	// has no name of its own; "" for one that is only passed on.
	Name string
	// Qualified is Name after the names of the functions and classes around it,
	// or of the object that it is assigned to, joined by dots: "Class.method".
	// In Go it begins with the receiver's type, without the star.
	Qualified string
	// Owner is the class, or in Go the receiver's type; "" for none.
	Owner string
	// Receiver is Owner as Go writes it, "*T" or "T".
	Receiver string
	Kind     FunctionKind
	// Span begins at the function itself: in Python at "def" or "async", in Go at
	// "func".
	Span Span
	// Whole is Span with what belongs to it: the comment right above it,
	// decorators, "export", and the statement that gives it its name where that
	// statement has no other purpose.
	Whole Span
	// Body is what lies within the braces, those included, or Python's block.
	Body Span
	// Signature is the text up to the body on one line, at most 400 bytes.
	Signature string
	// Parameters are as written, each on one line of at most 100 bytes, and at
	// most 100 of them.
	Parameters []string
	Documented bool // by a docstring or a comment for documentation
	Async      bool
	Cyclomatic int // 1 for a function without decisions; see the package comment
	Cognitive  int // 0 for a function without decisions; see the package comment
	Parent     int // the index of the function directly around this one, or -1
	Class      int // the index of the class directly around this one, or -1

	Node Node     // all languages but Go
	Go   ast.Node // a *ast.FuncDecl or *ast.FuncLit
}

// Class is a class or another named type.
type Class struct {
	Name       string // "" for a class that is only passed on
	Qualified  string // as for a Function
	Kind       ClassKind
	Span       Span
	Whole      Span     // as for a Function
	Bases      []string // as written, at most 100 bytes each; in Go the embedded types
	Documented bool

	Node Node          // all languages but Go
	Go   *ast.TypeSpec // Go only
}

// ClassKind is what sort of type it is.
type ClassKind string

// The kinds of types. Alias is another name for a type, NamedType what Go makes
// of one that is neither struct nor interface.
const (
	PlainClass ClassKind = "class"
	Interface  ClassKind = "interface"
	Struct     ClassKind = "struct"
	Enum       ClassKind = "enum"
	NamedType  ClassKind = "type"
	Alias      ClassKind = "alias"
)

// Variable is a variable or constant of the file's top level.
type Variable struct {
	Name  string
	Span  Span // of the name and its value
	Whole Span // of the statement, with the comment right above it
}

// ImportKind is how something is imported.
type ImportKind string

// The kinds of imports.
const (
	PlainImport   ImportKind = "import"
	FromImport    ImportKind = "from"     // Python's from … import
	Require       ImportKind = "require"  // CommonJS
	DynamicImport ImportKind = "dynamic"  // import(…)
	ReExport      ImportKind = "reexport" // export … from
)

// Import is one imported module.
type Import struct {
	// Path is what is imported as the file says it, without quotes; Python's
	// relative ones begin with their dots.
	Path string
	Kind ImportKind
	// Names are what is taken of it. Name is "default" or "*" where the language
	// has such, and Alias is empty where the name is kept.
	Names []ImportedName
	// Alias is a name for the module as a whole; "" for none.
	Alias string
	// Locals are the names that the file has from this import. In Go the name
	// of a package without an alias is guessed from the path.
	Locals []string
	Span   Span // of the statement
}

// ImportedName is one name taken from a module.
type ImportedName struct{ Name, Alias string }

// Local is what the file calls it.
func (n ImportedName) Local() string {
	if n.Alias != "" {
		return n.Alias
	}
	return n.Name
}
