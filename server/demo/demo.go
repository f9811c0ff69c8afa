// Package demo runs real consumers and a producer over TCP, so that someone without a client sees life at once.
package demo

// Names of what the demo works with.
const (
	Group      = "demo"
	Topic      = "demo"
	Partitions = 6
)

// Config says where the brokers are.
type Config struct {
	// Seeds are the brokers' addresses, HOST:PORT.
	Seeds []string
	// Logf gets one line for each failure of a client; nil means nowhere.
	Logf func(format string, args ...any)
}

// Client is one demo client.
type Client struct {
	// Name is its client.id: demo-1, demo-2, …; the producer is demo-producer.
	Name string `json:"name"`
	// Running is false after Kill and Stop, until Start reuses the name.
	Running bool `json:"running"`
	// Killed is set where it went without LeaveGroup.
	Killed bool `json:"killed,omitempty"`
}

// Demo is the set of demo clients. Its methods may be called from any goroutine.
type Demo struct{ cfg Config }

// New returns a demo without clients.
func New(cfg Config) *Demo { return &Demo{cfg: cfg} }

// Start starts n more consumers, and the producer with the first. It returns their names. More than 16 at once is an error.
func (d *Demo) Start(n int) ([]string, error) { return nil, nil }

// Stop lets a consumer leave its group and end. An unknown name is an error that lists the known ones.
func (d *Demo) Stop(name string) error { return nil }

// Kill drops a consumer's connections without LeaveGroup: to the group it is a ghost until its session runs out.
func (d *Demo) Kill(name string) error { return nil }

// List returns the clients in order of their names.
func (d *Demo) List() []Client { return nil }

// Close ends every client and waits for its goroutines.
func (d *Demo) Close() {}
