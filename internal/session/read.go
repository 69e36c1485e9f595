package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Resume opens an existing session for writing and returns what it contains.
// The key is an ID, a name, or the beginning of either that fits only one
// session, in upper or lower case. A file whose end is damaged is cut back to
// its last good record; the original is kept beside it and a notice says so.
func (s *Store) Resume(key string) (*Log, State, []string, error) {
	e, err := s.find(key)
	if err != nil {
		return nil, State{}, nil, err
	}
	held, err := acquire(e.dir, e.id)
	if err != nil {
		return nil, State{}, nil, err
	}
	log, state, notices, err := reopen(e.dir, e.id)
	if err != nil {
		held.Release()
		return nil, State{}, nil, err
	}
	log.lock = held
	return log, state, notices, nil
}

func reopen(dir, id string) (*Log, State, []string, error) {
	path := pathOf(dir, id)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, State{}, nil, cannotWrite(dir, id, err)
	}
	fail := func(err error) (*Log, State, []string, error) {
		_ = file.Close()
		return nil, State{}, nil, err
	}
	r, err := decode(file, path)
	if err != nil {
		return fail(err)
	}
	var notices []string
	switch {
	case r.damage != nil:
		aside, err := keepAside(path)
		if err != nil {
			return fail(fmt.Errorf("session %s: %w, and the damaged file cannot be copied: %w", id, r.damage, err))
		}
		if err := file.Truncate(r.good); err != nil {
			return fail(cannotWrite(dir, id, err))
		}
		notices = append(
			notices,
			fmt.Sprintf("%v; %s, the original is kept as %s", r.damage, r.dropped(), filepath.Base(aside)),
		)
	case r.unterminated:
		if _, err := file.WriteString("\n"); err != nil {
			return fail(cannotWrite(dir, id, err))
		}
		r.good++
	}
	r.state.ID = id
	written, err := json.Marshal(r.state.Meta)
	if err != nil {
		return fail(fmt.Errorf("session %s: meta data: %w", id, err))
	}
	return &Log{
		dir: dir, id: id, path: path, forkedFrom: r.state.ForkedFrom,
		meta: r.state.Meta, written: written, count: len(r.state.Messages), file: file, size: r.good,
	}, r.state, notices, nil
}

// Read returns what a session contains without touching it; key is as for
// Resume. It works while another process writes to the session.
func (s *Store) Read(key string) (State, []string, error) {
	e, err := s.find(key)
	if err != nil {
		return State{}, nil, err
	}
	file, err := os.Open(e.path())
	if err != nil {
		return State{}, nil, fmt.Errorf("session %s: %w", e.id, err)
	}
	defer file.Close()
	r, err := decode(file, e.path())
	if err != nil {
		return State{}, nil, err
	}
	r.state.ID = e.id
	if r.damage != nil {
		return r.state, []string{fmt.Sprintf("%v; %s", r.damage, r.dropped())}, nil
	}
	return r.state, nil, nil
}

// replay is the result of reading a file.
type replay struct {
	state        State
	good         int64 // Bytes up to the end of the last good record.
	unterminated bool  // The last good record lacks its newline.
	damage       error // Why reading ended before the end of the file, with file:line.
	lost         int   // Lines from the damaged one on.
}

func (r *replay) dropped() string {
	if r.lost == 1 {
		return "1 line was dropped"
	}
	return fmt.Sprintf("%d lines were dropped", r.lost)
}

// decode reads a session. Damage after the first record is part of the replay;
// an error means that nothing can be made of the file.
func decode(in io.Reader, path string) (*replay, error) {
	r := &replay{}
	lines := bufio.NewReaderSize(in, 64<<10)
	var long []byte
	for number := 1; ; number++ {
		line, err := readLine(lines, &long)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if len(line) == 0 {
			break
		}
		if r.damage != nil {
			r.lost++
			continue
		}
		err = r.apply(bytes.TrimSuffix(line, []byte("\n")), number)
		switch {
		case errors.Is(err, errVersion), err != nil && number == 1:
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		case err != nil:
			r.damage, r.lost = fmt.Errorf("%s:%d: %w", path, number, err), 1
		default:
			r.good += int64(len(line))
			r.unterminated = line[len(line)-1] != '\n'
		}
	}
	if r.good == 0 {
		return nil, fmt.Errorf("%s:1: the session is empty", path)
	}
	return r, nil
}

// readLine returns the next line with its newline, valid until the next call.
// It is empty at the end of the file.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*long = append((*long)[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.ReadSlice('\n')
		*long = append(*long, line...)
	}
	return *long, err
}

var errVersion = errors.New("the session was written by a newer version of aura")

// apply replays one line.
func (r *replay) apply(line []byte, number int) error {
	var rec record
	if err := json.Unmarshal(line, &rec); err != nil {
		return fmt.Errorf("damaged record: %w", err)
	}
	if (number == 1) != (rec.Kind == kindSession) {
		return fmt.Errorf("damaged record: kind %.40q is not expected here", rec.Kind)
	}
	switch rec.Kind {
	case "":
		return errors.New("damaged record: no kind")
	case kindSession:
		if rec.Version > version {
			return errVersion
		}
		r.state.ForkedFrom = rec.ForkedFrom
		fallthrough
	case kindMeta:
		if rec.Meta == nil {
			return fmt.Errorf("damaged record: %s without meta data", rec.Kind)
		}
		r.state.Meta, r.state.Open = *rec.Meta, false
	case kindMessage:
		if rec.Message == nil {
			return errors.New("damaged record: message without content")
		}
		r.state.Messages, r.state.Open = append(r.state.Messages, *rec.Message), true
	case kindReset:
		r.state.Messages = rec.Messages
	}
	return nil
}

// keepAside copies a damaged file to the first free name beside it.
func keepAside(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.damaged-%d", path, n)
		out, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = io.Copy(out, in)
		if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
			_ = os.Remove(aside)
			return "", err
		}
		return aside, nil
	}
}
