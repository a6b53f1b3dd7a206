package response

import "slices"

// Code says of what kind a tool's error is, for programs.
type Code string

// The codes of section 12.
const (
	InvalidArgument       Code = "invalid_argument"
	InvalidPath           Code = "invalid_path"
	Forbidden             Code = "forbidden"
	NotFound              Code = "not_found"
	Timeout               Code = "timeout"
	TooLarge              Code = "too_large"
	ResourceExhausted     Code = "resource_exhausted"
	NotImplemented        Code = "not_implemented"
	UpgradeRequired       Code = "upgrade_required"
	DependencyUnavailable Code = "dependency_unavailable"
	InternalError         Code = "internal_error"
)

var codes = [...]Code{
	InvalidArgument, InvalidPath, Forbidden, NotFound, Timeout, TooLarge, ResourceExhausted,
	NotImplemented, UpgradeRequired, DependencyUnavailable, InternalError,
}

// Codes are all of section 12's, in its order.
func Codes() []Code { return slices.Clone(codes[:]) }

// Known says whether c is one of Codes.
func (c Code) Known() bool { return slices.Contains(codes[:], c) }
