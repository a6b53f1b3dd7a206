package response

// Shape says what of an Answer is sent. It never changes.
type Shape struct {
	profile string
	fields  fieldSet
	debug   bool // every member is there, null where it has no value

	success, failure *filter // nil: data as it is

	costs costs
}

// filter is what goes over an answer's data; nil leaves it as it is.
func (s *Shape) filter(a *Answer) *filter {
	if a.Error != nil {
		return s.failure
	}
	return s.success
}

// Profile is the name of the profile.
func (s *Shape) Profile() string { return s.profile }
