// Package safe makes text from participants fit for a terminal. Whatever a terminal
// would obey, or a reader would not see, is written out as its code point, as the web
// console does: ⟨U+202E⟩.
//
// Escape sequences and control characters lose their effect, and so do changes of
// direction, characters without a width, variation selectors and tags, marks that
// pile up on one letter, and characters that Unicode has not assigned. Joiners within
// an emoji stay: people write these, and they deceive nobody.
//
// [Escaped] and its kind are for "parley tail" and the line-based chat, and write what JSON
// would: \u202e.
//
// What comes out is valid UTF-8 without an escape character. Text that is safe is not
// changed, so it may pass through here again.
package safe
