// Command pack writes FILE.br and FILE.gz beside each file named, for hosts that serve what is compressed already.
// Gzip is for plain file hosts: the page unpacks it itself, since such hosts set no encoding. With -lean OVERLAY it makes
// the code smaller that the tab is built from: see lean; with -slim FILE the program itself: see slim.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/andybalholm/brotli"
)

func main() {
	quality := flag.Int("quality", brotli.BestCompression, "brotli quality, 0 to 11")
	overlayPath := flag.String("lean", "", "the overlay to which lean copies of the named _templ.go files are added")
	slimPath := flag.String("slim", "", "the program that is to be made smaller, in its place")
	flag.Parse()
	if *slimPath != "" {
		if err := slim(*slimPath); err != nil {
			fmt.Fprintln(os.Stderr, "pack:", err)
			os.Exit(1)
		}
		return
	}
	if *overlayPath != "" {
		if err := lean(*overlayPath, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "pack:", err)
			os.Exit(1)
		}
		return
	}
	if *quality < brotli.BestSpeed || *quality > brotli.BestCompression || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "pack: want -quality 0 to 11 and at least one file: pack -quality 11 static/dist/lab.wasm")
		os.Exit(2)
	}
	for _, path := range flag.Args() {
		if err := pack(path, *quality); err != nil {
			fmt.Fprintln(os.Stderr, "pack:", err)
			os.Exit(1)
		}
	}
}

func pack(path string, quality int) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// The largest window that browsers take: the file is larger than brotli's usual one.
	br, err := squeezed(raw, func(w io.Writer) io.WriteCloser {
		return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: quality, LGWin: 24})
	})
	if err != nil {
		return fmt.Errorf("%s: brotli: %w", path, err)
	}
	gz, err := squeezed(raw, func(w io.Writer) io.WriteCloser {
		z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // the level is a constant and valid
		return z
	})
	if err != nil {
		return fmt.Errorf("%s: gzip: %w", path, err)
	}
	if err := os.WriteFile(path+".gz", gz, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %.2f MB, gzip %.2f MB, brotli %.2f MB\n", path, mb(raw), mb(gz), mb(br))
	// The .br file is written last: make takes it for the sign that all is done.
	return os.WriteFile(path+".br", br, 0o644)
}

func squeezed(raw []byte, with func(io.Writer) io.WriteCloser) ([]byte, error) {
	var out bytes.Buffer
	w := with(&out)
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func mb(b []byte) float64 { return float64(len(b)) / 1e6 }
