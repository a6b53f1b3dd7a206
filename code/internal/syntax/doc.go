// Package syntax reads source code in Go, Python, JavaScript and TypeScript
// into one model: functions, classes, imports, variables, how complex each
// function is, which lines are code, and where the text does not fit the
// language.
//
//	f, err := syntax.Parse(ctx, syntax.Python, "app.py", src)
//	for _, fn := range f.Functions {
//		fmt.Println(fn.Qualified, fn.Span.Line, fn.Cyclomatic)
//	}
//
// Go is read by go/parser, the others by tree-sitter; what they made of the
// file is there too, as [File.Go] and [File.Tree], for whoever needs more than
// the model has. A file with syntax errors gives what could be made out.
//
// # Complexity
//
// Cyclomatic complexity is 1 and 1 more for each decision of the function
// itself, not of functions within it: if and elif, loops, except and catch,
// conditional expressions, cases that are no default, short-circuit operators,
// and the loops and conditions of comprehensions.
//
// Cognitive complexity follows the white paper of SonarSource. An if, a loop, a
// switch, a catch and a conditional expression add 1 and 1 more for each of
// these, and each function, that they lie in; else, elif, a row of one logical
// operator and a jump to a label add 1. Functions within a function count for
// it as well, one level deeper. Recursion is not counted.
//
// # Guarantees
//
// Any bytes may be given. Text that is not UTF-8, too long or nested too deep is
// refused, and so is what takes too long to parse: no input crashes the
// program, and no message repeats what the text says.
//
// # Concurrency
//
// Everything may be called from any goroutine. A [File] is never changed once
// it is made. Trees lie in Go's memory; what C had is freed before [Parse]
// returns.
package syntax
