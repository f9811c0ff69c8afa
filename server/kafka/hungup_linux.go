package kafka

import (
	"net"
	"syscall"
	"unsafe"
)

// hungUp tells whether the peer closed a connection that nobody reads from: what it sent before may lie before its end, so reading
// would not tell. Linux says so in the first byte of TCP_INFO.
func hungUp(nc net.Conn) (gone bool) {
	const closed, closeWait = 7, 8 // TCP_CLOSE and TCP_CLOSE_WAIT
	tcp, ok := nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) { // an error says that it is closed on this side
		var info [256]byte
		size := uint32(len(info))
		_, _, no := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&size)), 0)
		gone = no == 0 && (info[0] == closed || info[0] == closeWait)
	})
	return gone
}
