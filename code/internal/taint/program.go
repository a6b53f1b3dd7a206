package taint

import "strings"

// A program is what a file says, in the little language that all languages are
// brought into before the flow is followed. It leaves out what data does not
// flow through.
type program struct {
	body []stmt
	// fields are the types of struct fields, by type and name: "server.db".
	fields map[string]string
	// errors says that a function that fails says so in a result.
	errors bool
}

// A function is one with its body.
type function struct {
	name   string
	params []param
	body   []stmt
	route  bool   // what calls it is a web framework, with what a request holds
	app    string // what it was registered with; "" where that is not known
	at     int32
}

// A param is one parameter.
type param struct {
	name  string
	typed string // the path of its type; "" where that is not said
	// harmless says that the type holds no text, or that it is the method's own
	// object.
	harmless bool
	at       int32
}

// stmtKind is what a statement does.
type stmtKind uint8

const (
	doExpr     stmtKind = iota // value, for what it does
	doAssign                   // targets = value
	doIf                       // if value then body, otherwise other
	doLoop                     // while value, or for targets of from: body, then other
	doSwitch                   // value against clauses
	doTry                      // body; one of handlers; other in the end
	doBlock                    // body, with names of its own
	doFunction                 // a function declared
	doReturn                   // value
	doBreak
	doContinue
	doLeave // throws, or ends the program
)

// A stmt is a statement.
type stmt struct {
	kind    stmtKind
	declare bool // an assignment that makes new names in its block
	adds    bool // an assignment that adds to what was there
	after   bool // a loop whose condition is looked at after the body
	targets []*expr
	value   *expr
	from    *expr // what a loop goes through
	body    []stmt
	other   []stmt
	clauses []clause
	fn      *function
	at      int32
}

// A clause is one case of a switch, or one handler of a try.
type clause struct {
	values   []*expr // none for the default
	body     []stmt
	falls    bool // goes on in the next clause
	fallback bool // is the default
}

// exprKind is what an expression is.
type exprKind uint8

const (
	anUnknown    exprKind = iota // parts are looked at, the result says nothing
	aLiteral                     // text
	aNumber                      // text
	aName                        // text
	aPath                        // text: something imported, or a type
	aMember                      // parts[0].text
	anIndex                      // parts[0][parts[1]]
	aCall                        // parts[0](parts[1:]…)
	aText                        // parts joined to one text
	aList                        // of parts, by their numbers or their keys
	aChoice                      // one of parts
	aComparison                  // parts[0] text parts[1], text being ==, !=, in, not in or another
	aNot                         // of parts[0]
	anAnd                        // of parts
	anOr                         // of parts
	aFunction                    // fn
	anAssignment                 // parts[1] is assigned to parts[0]
	anEach                       // for targets of parts[0] if parts[1]: parts[2]
	aPattern                     // text: a regular expression
	anError                      // to be assigned to: parts[0], which gets the error of a call
)

// An expr is an expression. names say, for the arguments of a call and the parts
// of a list, under which name they stand; "" for none.
type expr struct {
	kind    exprKind
	text    string
	parts   []*expr
	names   []string
	targets []*expr
	fn      *function
	at      int32
}

func (x *expr) name(i int) string {
	if i < len(x.names) {
		return x.names[i]
	}
	return ""
}

// add puts a part at the end, under a name or under none.
func (x *expr) add(name string, part *expr) {
	x.parts, x.names = append(x.parts, part), append(x.names, name)
}

// fold makes a text of literals one literal.
func (x *expr) fold() {
	var b strings.Builder
	for _, p := range x.parts {
		if p == nil || p.kind != aLiteral {
			return
		}
		b.WriteString(p.text)
	}
	*x = expr{kind: aLiteral, text: b.String(), at: x.at}
}

// imported is the statement that gives a name to what is imported.
func imported(at int32, name, path string) stmt {
	return stmt{kind: doAssign, at: at, targets: []*expr{{kind: aName, text: name, at: at}}, value: &expr{kind: aPath, text: path, at: at}}
}

// visit shows every expression below statements, functions' bodies included,
// and every statement.
func visit(body []stmt, onStmt func(*stmt), onExpr func(*expr)) {
	for i := range body {
		s := &body[i]
		onStmt(s)
		for _, t := range s.targets {
			visitExpr(t, onStmt, onExpr)
		}
		visitExpr(s.value, onStmt, onExpr)
		visitExpr(s.from, onStmt, onExpr)
		visit(s.body, onStmt, onExpr)
		visit(s.other, onStmt, onExpr)
		for _, c := range s.clauses {
			for _, v := range c.values {
				visitExpr(v, onStmt, onExpr)
			}
			visit(c.body, onStmt, onExpr)
		}
		if s.fn != nil {
			visit(s.fn.body, onStmt, onExpr)
		}
	}
}

func visitExpr(x *expr, onStmt func(*stmt), onExpr func(*expr)) {
	if x == nil {
		return
	}
	onExpr(x)
	for _, t := range x.targets {
		visitExpr(t, onStmt, onExpr)
	}
	for _, p := range x.parts {
		visitExpr(p, onStmt, onExpr)
	}
	if x.fn != nil {
		visit(x.fn.body, onStmt, onExpr)
	}
}
