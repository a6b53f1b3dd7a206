// Package tui is the terminal console: a room on a whole screen, of which "parley chat"
// is the program. It shows what happens, decides on proposals, fills in forms, and says
// what is typed.
//
// A [Model] turns messages into the text of a screen, and knows neither the terminal
// nor the network; [Run] puts it on a terminal. What it asks of the room goes through
// [Room].
//
// # Text from participants
//
// All of it passes through the package safe before it becomes part of a screen.
//
// # Concurrency
//
// A Model belongs to the goroutine of its program. What takes time is a command of
// Bubble Tea, which calls a Room from a goroutine of its own and comes back as a
// message. What the room brings is gathered by one goroutine and handed over at most
// 30 times a second, so that a flood costs no more than the screens it fills.
package tui
