package form

// What a form may hold. Beyond that it is refused.
const (
	MaxParams      = 1 << 20  // bytes of the request's params
	MaxMessage     = 64 << 10 // bytes
	MaxFields      = 1_000
	MaxChoices     = 1_000    // of one field
	MaxName        = 256      // bytes of a field's name
	MaxTitle       = 1 << 10  // bytes of a field's title, of a choice, and of a choice's title
	MaxDescription = 16 << 10 // bytes
	MaxNumber      = 128      // characters of a number, in a schema or as an answer
)
