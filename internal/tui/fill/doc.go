// Package fill lets a person fill in a form on a terminal, by keys alone. It is a
// component: whoever shows it passes on messages and sizes, and asks for the result.
//
//	m := fill.New(form, styles).From("files", "for your call of book_table (#10)")
//	m = m.SetSize(80, 24)
//	m, cmd = m.Update(msg)
//	if r, done := m.Result(); done {
//		send(r.Action, r.Content)
//	}
//
// All fields stand one below the other; the one that has the focus shows what it is
// for and what fits. What does not fit is said beside its field. Before anything is
// sent, all of it is shown exactly as it will be.
//
// What is optional and left empty is left out. A suggested value stands in its field
// from the beginning. Nothing of what the asker wrote can pass for a word of ours: it
// stands behind a bar, or behind its field's name, and is safe to be shown.
//
// Only what is on the screen is drawn, so that long forms stay quick. The model is a
// value as Bubble Tea has them: use the one that came back last.
package fill
