// Package form is the form that MCP's elicitation/create puts before a person
// (protocol version 2025-11-25, mode "form"): what is asked, in which order, which
// answers fit, and what is sent in the end. It shows nothing and sends nothing, so
// that a terminal and a web page can share it.
//
//	f, err := form.Parse(params)
//	if err != nil {
//		return &client.RPCError{Code: client.CodeInvalidParams, Message: err.Error()}
//	}
//	answers := map[string]jsontext.Value{}
//	for _, field := range f.Fields {
//		fmt.Println(field.Label(), "is", field.Expected())
//		answers[field.Name], err = field.Read(line)
//		…
//	}
//	content, err := f.Content(answers)
//
// # What is guaranteed
//
// A form is read whole or refused, with a [*Refusal] that says what of it MCP does
// not allow and where: nested objects, references, alternatives other than choices.
// What would narrow the answers and is not understood is refused as well; what only
// describes is passed over. Nothing that a form promises is beyond its person: a
// field that no answer could fit is refused.
//
// Fields keep the order in which the schema has them, and numbers all their digits.
// Sizes are bounded by the Max constants.
//
// Messages, names, titles and choices are what somebody wrote, control characters
// and escape sequences included. Whoever shows them has to make them harmless.
//
// # Concurrency
//
// A form does not change once it is read, and may be used from any goroutine. It
// shares memory with what it was read from.
package form
