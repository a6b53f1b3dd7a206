package response

import (
	"maps"
	"slices"
)

// Config is what a response_config.json says, ready for use. It never changes.
type Config struct {
	read   reading
	others perTier
	tools  map[string]*perTier // those with an override
	file   bool                // it was read from one
}

// perTier are the shapes of one tool, by the rank of the tier.
type perTier [len(tiers)]*Shape

// reading is what stands in the file.
type reading struct {
	profile  string // the global one
	values   valueSet
	profiles map[string]profile // the built-in ones as well
	tools    map[string]override
}

// override is what the file says of one tool.
type override struct {
	profile        string // empty: the global one
	includeOnly    []string
	excludeFields  []string
	includeOnError []string
	excludeAtTier  [len(tiers)][]string
}

// Default is the configuration of whoever has no file: minimal, and data as it
// is.
func Default() *Config { return build(emptyReading()) }

func emptyReading() reading {
	return reading{profile: Minimal, profiles: builtin(), tools: map[string]override{}}
}

// build makes all shapes at once: there are as many as overrides, however many
// tools are called.
func build(r reading) *Config {
	c := &Config{read: r, tools: make(map[string]*perTier, len(r.tools))}
	c.others = r.shapes(override{})
	for name, o := range r.tools {
		shapes := r.shapes(o)
		c.tools[name] = &shapes
	}
	return c
}

// shapes are those of one override. Tiers share one where nothing depends on
// the tier.
func (r *reading) shapes(o override) (all perTier) {
	for rank := range all {
		if rank > 0 && len(o.excludeAtTier[rank]) == 0 && len(o.excludeAtTier[0]) == 0 {
			all[rank] = all[0]
			continue
		}
		all[rank] = r.shape(o, rank)
	}
	return all
}

func (r *reading) shape(o override, rank int) *Shape {
	name := o.profile
	if name == "" {
		name = r.profile
	}
	p := r.profiles[name]
	return &Shape{
		profile: name,
		fields:  p.fields,
		debug:   name == Debug,
		success: newFilter(r.values, o.includeOnly, p.exclusions, o.excludeFields, o.excludeAtTier[rank]),
		failure: newErrorFilter(r.values, o, p.exclusions, o.excludeAtTier[rank]),
	}
}

// inDebug is the same configuration with every tool in the debug profile.
func (c *Config) inDebug() *Config {
	r := c.read
	r.profile, r.tools = Debug, maps.Clone(r.tools)
	for name, o := range r.tools {
		o.profile = ""
		r.tools[name] = o
	}
	forced := build(r)
	forced.file = c.file
	return forced
}

// Shape is how a tool's answers are sent to somebody of a tier. It is looked
// up, not made. A tier that is not known counts as Community.
func (c *Config) Shape(tool string, tier Tier) *Shape {
	if own := c.tools[tool]; own != nil {
		return own[tier.rank()]
	}
	return c.others[tier.rank()]
}

// Profile is the name of the global profile.
func (c *Config) Profile() string { return c.read.profile }

// Profiles are the names of all profiles, sorted.
func (c *Config) Profiles() []string { return slices.Sorted(maps.Keys(c.read.profiles)) }

// Tools are the names of the tools with an override, sorted.
func (c *Config) Tools() []string { return slices.Sorted(maps.Keys(c.read.tools)) }
