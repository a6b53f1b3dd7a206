package taint

// Type is what is wrong.
type Type string

// The types. The first seven are flows from a source to a sink.
const (
	SQLInjection       Type = "sql_injection"
	CommandInjection   Type = "command_injection"
	CodeInjection      Type = "code_injection"
	PathTraversal      Type = "path_traversal"
	TemplateInjection  Type = "template_injection"
	CrossSiteScripting Type = "cross_site_scripting"
	Deserialization    Type = "unsafe_deserialization"
	HardcodedSecret    Type = "hardcoded_secret"
	WeakCrypto         Type = "weak_crypto"
)

// Types are all of them, in the order in which messages name them.
func Types() []Type {
	return []Type{SQLInjection, CommandInjection, CodeInjection, PathTraversal, TemplateInjection,
		CrossSiteScripting, Deserialization, HardcodedSecret, WeakCrypto}
}

// Level grades severities, and, up to High, confidences.
type Level int

// The levels.
const (
	Low Level = 1 + iota
	Medium
	High
	Critical
)

var levelNames = [...]string{"", "low", "medium", "high", "critical"}

// String is the level in a word.
func (l Level) String() string { return levelNames[max(0, min(int(l), len(levelNames)-1))] }

// ParseLevel is the level of a word, or 0.
func ParseLevel(word string) Level {
	for i, name := range levelNames {
		if name == word {
			return Level(i)
		}
	}
	return 0
}

// A danger is a set of the types that are flows.
type danger uint8

const (
	bySQL danger = 1 << iota
	byCommand
	byCode
	byPath
	byTemplate
	byHTML
	byObject

	byAll danger = 1<<7 - 1
)

// A hazard is what there is to know about a type that is a flow.
type hazard struct {
	word     string // as the tables of rules call it
	danger   danger
	is       Type
	cwe      string
	severity Level
	// wrapper says that who passes a parameter on into such a sink as part of a
	// larger text is more than a wrapper.
	wrapper bool
	// local says that the program's own arguments and environment are a usual
	// thing to meet here.
	local bool
}

var hazards = []hazard{
	{word: "sql", danger: bySQL, is: SQLInjection, cwe: "CWE-89", severity: High, wrapper: true},
	{word: "command", danger: byCommand, is: CommandInjection, cwe: "CWE-78", severity: Critical, wrapper: true},
	{word: "code", danger: byCode, is: CodeInjection, cwe: "CWE-94", severity: Critical},
	{word: "path", danger: byPath, is: PathTraversal, cwe: "CWE-22", severity: High, local: true},
	{word: "template", danger: byTemplate, is: TemplateInjection, cwe: "CWE-1336", severity: High},
	{word: "html", danger: byHTML, is: CrossSiteScripting, cwe: "CWE-79", severity: Medium},
	{word: "object", danger: byObject, is: Deserialization, cwe: "CWE-502", severity: Critical},
}

// dangerOf is the danger that a word of the tables names; 0 for none.
func dangerOf(word string) danger {
	if word == "all" {
		return byAll
	}
	for _, h := range hazards {
		if h.word == word {
			return h.danger
		}
	}
	return 0
}

// hazardOf is what there is to know of a single danger.
func hazardOf(d danger) *hazard {
	for i := range hazards {
		if hazards[i].danger == d {
			return &hazards[i]
		}
	}
	return nil
}

// confidence is how sure one may be that a taint that reaches a sink of this
// kind is a fault.
func (h *hazard) confidence(t taint) Level {
	level := High
	switch t.from.kind {
	case fromParameter:
		level = Low
		if h.wrapper && t.composed {
			level = Medium
		}
	case fromArchive:
		level = Medium
	case fromProgram, fromEnvironment, fromInput:
		level = Medium
		if h.local {
			level = Low
		}
	}
	return max(Low, level-Level(t.doubt))
}
