package observe

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// TestFollowLog: lines that are added to a broker's log are read, also after the file was replaced.
func TestFollowLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	line := func(why string) string {
		return time.Now().Format("[2006-01-02 15:04:05,000]") + " INFO [GroupCoordinator id=1] Preparing to rebalance group orders in state PreparingRebalance with old generation 7 (reason: " + why + "). (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
	}
	if err := os.WriteFile(path, []byte(line("old")), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := New(Config{Access: Access{Seeds: []string{"127.0.0.1:1"}}, Publish: func([]event.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	ctx, stop := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { o.followLog(ctx, path) })
	defer func() { stop(); following.Wait() }()
	told := func(write func()) {
		t.Helper()
		for end := time.After(30 * time.Second); ; {
			write()
			select {
			case turn := <-o.turns:
				if seen, is := turn.seen.(timeline.BrokerLog); is && len(seen.Events) > 0 && seen.Events[0].Group == "orders" {
					return
				}
			case <-end:
				t.Fatal("nothing of the log was told")
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	told(func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.WriteString(line("new"))
	})
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line("replaced")), 0o600); err != nil {
		t.Fatal(err)
	}
	told(func() {})
}
