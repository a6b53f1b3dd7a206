// Package markdown shows markdown on a terminal: CommonMark, with the tables, task
// lists and strikethrough of GitHub.
//
//	for _, line := range markdown.Lines(text, 80, styles) {
//		fmt.Println(line)
//	}
//
// The text may be hostile. Nothing of it is obeyed: escape sequences, also those that
// are written as entities, come out as the package safe writes them, HTML as text, and
// no image is fetched. Beside the words of a link stands where it really goes; where
// the words name another place, it is said so. What other programs hide is shown as
// well, since agents read it: comments, titles, definitions that nothing refers to, what
// stands behind a fence.
//
// A parser of markdown can be made slow. So only the first MaxMarkdown bytes are read
// as such, in pieces, and pieces that nest too deep or have no end are shown as they
// stand, as is everything behind them.
package markdown
