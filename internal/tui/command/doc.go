// Package command reads what a person types into the terminal console, and says how
// a line that is being typed can go on.
//
//	c, err := command.Parse("/propose files write_file path=a.txt lines:=[1,2] because it is missing")
//	c.Verb, c.Target, c.Tool // command.Propose, "files", "write_file"
//	arguments, err := c.Arguments(schema)
//
// A line that begins with a / is a command, and everything else is said; //TEXT says
// what begins with a /. The words of the line-based console mean the same here.
//
// # Words
//
// Words are separated by blanks. What holds blanks, or begins with a quote, stands in
// "double quotes", which hold the escapes of JSON, or in 'single quotes', which hold
// none. Whatever comes last, as a reason, needs no quotes.
//
// Arguments are name=text, name==text and name:=json, or one JSON object. The schema
// of the tool says what name=text stands for: a string, unless it says a number, a
// boolean, null, an object or a list; all digits are kept. name==text is a string in
// any case, and name:=json is taken as it stands. No files are read.
//
// # Schemas
//
// Schemas are somebody else's. They may be deep, refer to themselves, and be huge:
// what is looked at is bounded, and whatever is beyond that is not known. What comes
// back is safe to be shown (see the package safe).
//
// # Concurrency
//
// There is no state.
package command
