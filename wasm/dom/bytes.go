//go:build js

package dom

import (
	"strconv"

	"github.com/hack-pad/safejs"
)

// readBytes does what a field for a file asks for, with the file's name, a line's end and its bytes, as they are. data-bytes is how
// many there may be; a field with the action "rec-file" says "rec-failed" where they cannot be read.
func (p *page) readBytes(el, file ref) {
	action := el.attr("data-do")
	fail := func(reason string) { p.with(func(a App) { a.Do("rec-failed", reason) }) }
	most, _ := strconv.Atoi(el.attr("data-bytes"))
	if size := int(file.get("size").number()); size > most {
		fail(strconv.Itoa(size>>20) + " MB > " + strconv.Itoa(most>>20) + " MB")
		return
	}
	name := file.get("name").text()
	then(file.call("arrayBuffer"), func(buffer ref) {
		array, err := global("Uint8Array").v.New(buffer.v)
		if err == nil {
			data := make([]byte, int(buffer.get("byteLength").number()))
			if _, err = safejs.CopyBytesToGo(data, array); err == nil {
				p.with(func(a App) { a.Do(action, name+"\n"+string(data)) })
			}
		}
		if err != nil {
			fail(err.Error())
		}
		el.set("value", "")
	}, func(reason ref) { fail(reason.get("message").text()) })
}
