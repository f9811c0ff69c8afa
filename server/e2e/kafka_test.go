package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"grouplab/server/app"
)

// kafkaServer runs brokers without pages, and ends them with the test.
func kafkaServer(t testing.TB, brokers int32, set ...string) *app.Server {
	t.Helper()
	return startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: brokers, Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Set: set})
}

// ports finds the first of so many free ports in a row, below those that systems give out by themselves: the port of a broker
// that is down must not become somebody else's before it runs again.
func ports(t testing.TB, n int32) string {
	t.Helper()
	for range 1000 {
		first, free := 12_000+rand.Int32N(20_000), true
		var sockets []net.Listener
		for port := first; free && port < first+n; port++ {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
			if free = err == nil; free {
				sockets = append(sockets, l)
			}
		}
		for _, l := range sockets {
			l.Close()
		}
		if free {
			return fmt.Sprint("127.0.0.1:", first)
		}
	}
	t.Fatal("no ports are free")
	return ""
}

// newServer makes a server, where port 0 is asked for on ports that stay its own. Between the search for them and their use
// another one may come.
func newServer(t testing.TB, cfg app.Config) *app.Server {
	t.Helper()
	anywhere := cfg.Kafka == "127.0.0.1:0"
	for try := 1; ; try++ {
		if anywhere {
			cfg.Kafka = ports(t, cfg.Brokers)
		}
		s, err := app.New(cfg)
		if err == nil {
			return s
		}
		if !anywhere || try == 20 || !strings.Contains(err.Error(), "taken by another program") {
			t.Fatal(err)
		}
	}
}

func startServer(t testing.TB, cfg app.Config) *app.Server {
	t.Helper()
	if cfg.Logf == nil {
		cfg.Logf = func(format string, args ...any) { t.Log("server: " + fmt.Sprintf(format, args...)) }
	}
	s := newServer(t, cfg)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}
