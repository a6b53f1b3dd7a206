// Package excerpt takes pieces of what a server answered, for readers whose
// window has no room for all of it: its beginning, a page, the places where
// something stands.
//
//	text, ok := excerpt.Of("tools/call", payload)
//	n, how := text.Tokens()
//	head, n := excerpt.Head(text.String(), 4_000)
//	page, err := text.Page(excerpt.Range{Offset: len(head)}, 4_000)
//
// # What is guaranteed
//
//   - The same answer is always the same text, so that offsets hold from one
//     call to the next.
//   - No piece ends within a character, nor, where there is another place to cut,
//     between a character and the marks, joiners and modifiers that belong to it.
//   - A piece has as many tokens as were asked for at most, give or take a few: a
//     long text is counted in parts. Tokens are those of package tokens.
//   - Whatever a server answers, the time that a piece takes grows with the
//     length of the answer and no faster.
//
// # Concurrency
//
// A Text is not changed by its methods, which may be called from any goroutine.
package excerpt
