package space

import (
	"maps"
	"slices"
)

func (r *Rules) appendContextTypes(b []byte) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(r.ContextTypes)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = r.ContextTypes[name].append(b, r.Limits.WithDefaults())
	}
	return append(b, '}')
}

// append writes what a type has of its own: limits only where they differ from
// those of the space.
func (t ContextType) append(b []byte, of Limits) []byte {
	b = append(b, '{')
	if t.Description != "" {
		b = append(appendString(append(b, `"description":`...), t.Description), ',')
	}
	if len(t.Kinds) > 0 {
		b = append(appendStrings(append(b, `"kinds":`...), t.Kinds), ',')
	}
	if limits := t.limits(of); len(limits) > 0 {
		b = append(append(append(b, `"limits":{`...), limits.done()...), "},"...)
	}
	return append(members(b).done(), '}')
}

func (t ContextType) limits(of Limits) members {
	var m members
	if t.Rate != 0 && t.Rate != of.ContextRate {
		m.number("context_rate", t.Rate)
	}
	if t.Depth != 0 && t.Depth != of.ContextDepth {
		m.number("context_depth", float64(t.Depth))
	}
	if t.Open != 0 && t.Open != of.OpenContexts {
		m.number("open_contexts", float64(t.Open))
	}
	if t.MetadataBytes != 0 && t.MetadataBytes != of.ContextMetadataBytes {
		m.number("context_metadata_bytes", float64(t.MetadataBytes))
	}
	if t.Idle != 0 && t.Idle != of.ContextIdle {
		m.duration("context_idle", t.Idle)
	}
	return m
}
