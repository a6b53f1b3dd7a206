package main

// palette colours text, if it is on. Colour only repeats what the words say.
type palette struct{ on bool }

func (p palette) paint(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) dim(s string) string  { return p.paint("2", s) }
func (p palette) name(s string) string { return p.paint("1", s) }
func (p palette) good(s string) string { return p.paint("32", s) }
func (p palette) bad(s string) string  { return p.paint("31", s) }
func (p palette) ask(s string) string  { return p.paint("33", s) }
func (p palette) note(s string) string { return p.paint("36", s) }
