package e2e

import (
	"context"
	"fmt"
	"testing"

	"grouplab/server/app"
)

// kafkaServer runs brokers without pages, and ends them with the test.
func kafkaServer(t testing.TB, brokers int32, set ...string) *app.Server {
	t.Helper()
	return startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: brokers, Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Set: set})
}

func startServer(t testing.TB, cfg app.Config) *app.Server {
	t.Helper()
	if cfg.Logf == nil {
		cfg.Logf = func(format string, args ...any) { t.Log("server: " + fmt.Sprintf(format, args...)) }
	}
	s, err := app.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
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
