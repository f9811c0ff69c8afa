//go:build !linux

package kafka

import "net"

// hungUp is known on Linux only; elsewhere connections.max.idle.ms ends who hung up.
func hungUp(net.Conn) bool { return false }
