package tab

import "grouplab/coordinator/sim"

// preset is a ready set-up to begin with. Its name and what it is for are words of the view.
type preset struct{ id, text string }

var presets = []preset{
	{"three", `seed 1
brokers 3
topic orders 6
group orders-svc
consumer c1 session=10s rebalance=60s
consumer c2 session=10s rebalance=60s
consumer c3 session=10s rebalance=60s
start c1
start c2
start c3
until state Stable and unowned == 0
advance 6s
`},
	{"static", `seed 2
brokers 3
topic orders 6
group orders-svc
consumer s1 instance=pod-1 session=30s rebalance=60s
consumer s2 instance=pod-2 session=30s rebalance=60s
consumer s3 instance=pod-3 session=30s rebalance=60s
start s1
start s2
start s3
until state Stable and unowned == 0
advance 6s
`},
	{"cooperative", `seed 3
brokers 3
topic orders 6
group orders-svc
consumer k1 assignor=cooperative-sticky session=10s rebalance=60s
consumer k2 assignor=cooperative-sticky session=10s rebalance=60s
consumer k3 assignor=cooperative-sticky session=10s rebalance=60s
start k1
start k2
until state Stable and unowned == 0
advance 6s
`},
	{"failover", `seed 4
brokers 3
set broker.session.timeout.ms 3000
set lab.load.delay.ms 400
topic orders 6
group orders-svc
consumer c1 session=10s rebalance=60s
consumer c2 session=10s rebalance=60s
start c1
start c2
until state Stable and unowned == 0
advance 6s
`},
	{"transactions", `seed 5
brokers 3
topic orders 4
group orders-svc
consumer t1 transactional=copy-1 session=10s rebalance=60s transaction-timeout=20s
consumer t2 transactional=copy-2 session=10s rebalance=60s transaction-timeout=20s
start t1
start t2
until state Stable and unowned == 0
advance 6s
`},
	{"empty", `seed 6
brokers 3
`},
}

// liveSetting tells whether a setting can be changed while the brokers run.
func liveSetting(name string) bool {
	for _, s := range sim.Settings() {
		if s.Name == name {
			return s.Live
		}
	}
	return false
}
