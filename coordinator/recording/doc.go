// Package recording is the format of a recording: what happened to a cluster during some minutes or hours, in a file that
// stands alone. A server writes it, a page reads it without a server, and Script makes of it a run for the lab.
//
// A file NAME.grouplab is compressed with gzip and holds lines of JSON:
//
//	{"grouplab":"recording","version":1,"cluster":"…","fromMs":…,"toMs":…,…}   Header, always first
//	{"seq":…,"atMs":…,"kind":"FactsBegan",…}                                  events, as package event writes them
//	{"gap":{"from":…,"to":…,"fromMs":…,"toMs":…,"reason":"…"}}                 events that nobody has; facts follow
//	{"end":{"events":…,"hash":"…"}}                                            always last: without it the file was cut
//
// The first events are facts, FactsBegan to FactsEnded, which build the picture from nothing. Events before Header.FromMs lead
// up to what was asked for.
//
// Whoever reads takes what he can: a kind that he does not know is counted and skipped, and so is a line that cannot be read; what
// is broken or cut ends there, and everything before it counts. A version above his own is refused: its events may mean
// something else.
package recording
