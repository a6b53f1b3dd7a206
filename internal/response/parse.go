package response

import (
	"fmt"
	"maps"
	"slices"
)

// FileName is what the file is called wherever it is searched for.
const FileName = "response_config.json"

// MaxFile is how large the file may be, in bytes.
const MaxFile = 1 << 20

// Parse reads a response_config.json, which may have comments and trailing
// commas. Its error is a *parley.Error with the code invalid_config that says
// name, line and column of the first problem, and the nearest key where one is
// unknown. [Check] tells of all.
func Parse(name string, data []byte) (*Config, error) {
	r, problems := parse(data)
	if len(problems) > 0 {
		return nil, asError(name, problems)
	}
	return build(r), nil
}

// Check is everything that is wrong with a response_config.json, at most 100
// problems, by their places.
func Check(data []byte) []Problem {
	_, problems := parse(data)
	return problems
}

func parse(data []byte) (reading, []Problem) {
	if len(data) > MaxFile {
		return reading{}, []Problem{{Message: fmt.Sprintf("the file is larger than %d KiB", MaxFile>>10)}}
	}
	f := fileReader{reader: newReader(data), into: emptyReading()}
	f.file()
	f.end()
	if !f.broken {
		f.checkUses()
	}
	slices.SortStableFunc(f.problems, byPlace)
	return f.into, f.problems
}

func byPlace(a, b Problem) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// fileReader knows the keys. response_config.schema.json says the same.
type fileReader struct {
	*reader
	into reading
	uses []use
}

// use is a place where a profile is named. Which there are is known at the end.
type use struct {
	profile string
	at      int
}

func (f *fileReader) file() {
	f.keys("the configuration", map[string]func(int){
		"$schema":     f.note("$schema"),
		"version":     f.note("version"),
		"description": f.note("description"),
		"global":      func(int) { f.global() },
		"profiles":    func(int) { f.named("profiles", "profile", f.profile) },
		"tool_overrides": func(int) {
			f.named("tool_overrides", "tool", f.override)
		},
	})
}

func (f *fileReader) global() {
	value := func(name string, kind valueSet) func(int) {
		return f.flag(name, func(on bool) {
			if on {
				f.into.values |= kind
			} else {
				f.into.values &^= kind
			}
		})
	}
	f.keys("global", map[string]func(int){
		"profile":                func(int) { f.into.profile = f.use(f.into.profile) },
		"exclude_empty_arrays":   value("exclude_empty_arrays", emptyArrays),
		"exclude_empty_objects":  value("exclude_empty_objects", emptyObjects),
		"exclude_null_values":    value("exclude_null_values", nulls),
		"exclude_default_values": value("exclude_default_values", defaults),
	})
}

// use reads the name of a profile.
func (f *fileReader) use(otherwise string) string {
	name, at := f.text("profile")
	if name == "" {
		return otherwise
	}
	f.uses = append(f.uses, use{name, at})
	return name
}

// checkUses sees that each profile that is named is there.
func (f *fileReader) checkUses() {
	known := slices.Sorted(maps.Keys(f.into.profiles))
	for _, u := range f.uses {
		if _, ok := f.into.profiles[u.profile]; !ok && !f.broken {
			f.unknown(u.at, "profile", u.profile, known)
		}
	}
}

// named reads an object whose members somebody names: profiles or tools.
func (f *fileReader) named(what, one string, read func(name string)) {
	f.object(what, func(m member) {
		if m.name == "" {
			f.wrong(m.at, "", "a %s must have a name", one)
		}
		read(m.name)
	})
}

func (f *fileReader) profile(name string) {
	p := f.into.profiles[name] // what a built-in one says holds until it is said anew
	f.keys("a profile", map[string]func(int){
		"description": f.note("description"),
		"envelope": func(int) {
			f.keys("envelope", map[string]func(int){
				"include": func(at int) { p.fields = f.include(name, at) },
			})
		},
		"common_exclusions": func(int) { p.exclusions = f.list("common_exclusions", nil) },
	})
	f.into.profiles[name] = p
}

func (f *fileReader) include(profile string, at int) fieldSet {
	names := f.list("include", envelopeNames)
	if missing := missingFrom(names); profile == Debug && missing != "" && !f.broken {
		f.wrong(at, "make a profile of your own", "the debug profile has every field: it cannot leave out %s", missing)
		return everyField
	}
	return fieldsOf(names)
}

func (f *fileReader) override(tool string) {
	var o override
	names := func(what string, into *[]string) func(int) {
		return func(int) { *into = f.list(what, nil) }
	}
	f.keys("a tool's override", map[string]func(int){
		"description":      f.note("description"),
		"profile":          func(int) { o.profile = f.use("") },
		"include_only":     names("include_only", &o.includeOnly),
		"exclude_fields":   names("exclude_fields", &o.excludeFields),
		"include_on_error": names("include_on_error", &o.includeOnError),
		"exclude_when_tier": func(int) {
			f.keys("exclude_when_tier", map[string]func(int){
				string(Community):  names("community", &o.excludeAtTier[Community.rank()]),
				string(Pro):        names("pro", &o.excludeAtTier[Pro.rank()]),
				string(Enterprise): names("enterprise", &o.excludeAtTier[Enterprise.rank()]),
			})
		},
	})
	f.into.tools[tool] = o
}
