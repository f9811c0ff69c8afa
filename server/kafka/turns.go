package kafka

const (
	// costPerTurn is what a long request may cost before whatever else waits for the loop comes first: a row that is looked up
	// costs 1, one that a topic was sought for in vain, or refused, costTry, one that changed the cluster costChange: it is told
	// to every broker, and written with -data. Kafka's controller takes such requests one by one, beside the brokers' threads.
	costPerTurn = 2048
	costTry     = 16
	costChange  = 512
)

// inTurns runs step for each of n rows, in order, then done. Most requests are over at once; a long one lets others in between,
// and ends with its connection.
func (s *Server) inTurns(c *call, nowMs int64, n int, step func(nowMs int64, i int) (cost int), done func()) {
	next, timer := 0, int64(0)
	c.abandon = func() { s.loop.Cancel(timer) }
	var run func(nowMs int64)
	run = func(nowMs int64) {
		for spent := 0; next < n; next++ {
			if spent >= costPerTurn {
				timer = s.loop.At(nowMs+1, run)
				return
			}
			spent += step(nowMs, next)
		}
		done()
	}
	run(nowMs)
}

// costOf is what a change costs that was answered with this code.
func costOf(code int16) int {
	if code == 0 {
		return costChange
	}
	return costTry
}
