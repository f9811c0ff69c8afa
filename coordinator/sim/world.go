// Package sim is a seeded world: a virtual clock, a network, brokers and consumers. Nothing in it sleeps and nothing is
// random: the same Config and the same calls give the same events, byte for byte, natively and in WebAssembly.
package sim

import "grouplab/coordinator/event"

// World is a cluster and its clients. One goroutine owns it.
type World struct{}

// New makes a world at 0 ms with its brokers running, without topics of its own and without consumers.
func New(cfg Config) (*World, error) { return &World{}, nil }

// NowMs is the world's time in milliseconds.
func (w *World) NowMs() int64 { return 0 }

// NextMs is when something happens next, -1 where nothing will without an action from outside.
func (w *World) NextMs() int64 { return -1 }

// Step runs the next moment: everything that is due at NextMs. It reports false where nothing is due ever.
func (w *World) Step() bool { return false }

// AdvanceTo runs every moment up to ms and leaves the clock there. A time in the past changes nothing.
func (w *World) AdvanceTo(ms int64) {}

// Take hands out the events since the last Take, in the order of Seq.
func (w *World) Take() []event.Event { return nil }

// Clone is a full copy that goes on identically under the same calls.
func (w *World) Clone() *World { c := *w; return &c }

// Input notes what a learner or a script did ("kill c3"). It becomes the cause of what follows in this moment.
func (w *World) Input(text string) {}

// Facts are the events that rebuild the whole picture, between FactsBegan and FactsEnded.
func (w *World) Facts() []event.Event { return nil }

// AddConsumer describes a consumer; it does not run until Start.
func (w *World) AddConsumer(c ConsumerConfig) error { return nil }

// Consumers names the consumers in the order they were added.
func (w *World) Consumers() []string { return nil }

// Start starts a consumer that does not run.
func (w *World) Start(name string) error { return nil }

// Stop closes a consumer cleanly: it commits, sends LeaveGroup, and ends.
func (w *World) Stop(name string) error { return nil }

// Kill ends a process at once; nothing is sent.
func (w *World) Kill(name string) error { return nil }

// Restart kills a process if it runs, and starts a new one with the same client.id and no member id.
func (w *World) Restart(name string) error { return nil }

// Pause freezes a process with all its threads; answers queue.
func (w *World) Pause(name string) error { return nil }

// Resume lets a frozen process go on.
func (w *World) Resume(name string) error { return nil }

// CreateTopic makes a topic with replicas on up to three brokers.
func (w *World) CreateTopic(name string, partitions int32) error { return nil }

// AddPartitions brings a topic to total partitions.
func (w *World) AddPartitions(topic string, total int32) error { return nil }

// KillBroker ends a broker's process at once.
func (w *World) KillBroker(id int32) error { return nil }

// RestartBroker starts a broker that does not run.
func (w *World) RestartBroker(id int32) error { return nil }

// SetLatency changes how long a message takes, in milliseconds, 1 to 60 000. Messages under way are not changed.
func (w *World) SetLatency(ms int64) error { return nil }

// SetLoss changes how many of a million messages are lost.
func (w *World) SetLoss(ppm int32) error { return nil }

// Drop loses the next count requests of one API that a consumer sends; reply loses the answers instead.
func (w *World) Drop(consumer string, api int16, count int, reply bool) error { return nil }
