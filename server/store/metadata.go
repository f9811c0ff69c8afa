package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// metadataFile is what the host keeps of topics and leaders, under DIR.
const metadataFile = "metadata.json"

// MetadataPath is the file of SaveMetadata.
func (d *Disk) MetadataPath() string { return filepath.Join(d.cfg.Dir, metadataFile) }

// SaveMetadata replaces the host's metadata as a whole: after a crash either the old or the new is there.
func (d *Disk) SaveMetadata(data []byte) error {
	return cause(d.replaceDurably(d.MetadataPath(), data))
}

// LoadMetadata reads it; nil where there is none yet.
func (d *Disk) LoadMetadata() ([]byte, error) {
	data, err := os.ReadFile(d.MetadataPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// replace writes a small file as a whole. It reaches the disk as Flush says.
func (d *Disk) replace(path string, data []byte) error {
	if d.cfg.Flush == Always {
		return d.replaceDurably(path, data)
	}
	return d.replaceWith(path, data, false)
}

func (d *Disk) replaceDurably(path string, data []byte) error {
	if err := d.replaceWith(path, data, true); err != nil {
		return err
	}
	return d.syncPath(filepath.Dir(path))
}

func (d *Disk) replaceWith(path string, data []byte, durably bool) error {
	fresh := path + ".tmp"
	f, err := d.io.create(fresh)
	if err != nil {
		return err
	}
	_, err = d.io.write(f, data, 0)
	if err == nil && durably {
		err = d.io.sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = os.Remove(fresh)
	}
	return err
}
