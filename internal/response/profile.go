package response

import (
	"slices"
	"strings"
)

// fieldSet is a set of members of the envelope.
type fieldSet uint16

// The members that a profile chooses. The others are not for choosing: data,
// error and upgrade_hints are there when there is something to tell.
const (
	tierField fieldSet = 1 << iota
	versionField
	toolField
	requestField
	capabilitiesField
	durationField

	everyField = 1<<iota - 1
)

// metadata are the names of what a profile chooses, in the order of the bits.
var metadata = []string{"tier", "tool_version", "tool_id", "request_id", "capabilities", "duration_ms"}

// envelopeNames are what a profile may list: that the last three are always
// there, so that to list them changes nothing, is no reason to refuse them.
var envelopeNames = append(slices.Clone(metadata), "error", "upgrade_hints", "data")

// fieldsOf are the chosen members among names.
func fieldsOf(names []string) (set fieldSet) {
	for _, name := range names {
		if i := slices.Index(metadata, name); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// The profiles that are there without a configuration.
const (
	Minimal  = "minimal"
	Standard = "standard"
	Verbose  = "verbose"
	Debug    = "debug"
)

// profile is what a name stands for.
type profile struct {
	fields     fieldSet
	exclusions []string // members of data
}

func builtin() map[string]profile {
	return map[string]profile{
		Minimal:  {},
		Standard: {fields: toolField},
		Verbose:  {fields: toolField | versionField | durationField},
		Debug:    {fields: everyField},
	}
}

// missingFrom names what of the metadata a list leaves out.
func missingFrom(names []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(metadata), func(m string) bool {
		return slices.Contains(names, m)
	}), ", ")
}
