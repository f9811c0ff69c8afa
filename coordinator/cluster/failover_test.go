package cluster

import "testing"

func TestGoldenFailover(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	t.Log("\n" + w.text())
	w.say("orders", 0, -1, 5000, "a", "b")
	w.run(2000)
	t.Log("\n" + w.text())
	w.c.KillBroker(w.nowMs, 1)
	w.take()
	w.run(20000)
	t.Log("\n" + w.text(), w.moments, w.nextMs())
	w.say("orders", 0, -1, 5000, "c")
	w.run(2000)
	w.c.StartBroker(w.nowMs, 1)
	w.take()
	w.run(4000)
	t.Log("\n" + w.text(), w.moments, w.nextMs())
	w.say("orders", 0, -1, 5000, "d")
	w.run(4000)
	t.Log("\n" + w.text(), w.moments, w.nextMs())
}
