package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sabir-go/sabir/lab/table"
)

// Results holds the measurements of a run, and everything else from which a report is made.
type Results struct {
	Machine  Machine       `json:"machine"`
	Begun    time.Time     `json:"begun"`
	Took     time.Duration `json:"took"`
	Rounds   int           `json:"rounds"`
	Duration time.Duration `json:"duration"` // of one measurement, where the table has none of its own
	Quick    bool          `json:"quick,omitempty"`
	Cut      bool          `json:"cut,omitempty"` // ended before its end
	Seeds    []SeedResult  `json:"seeds"`
}

// SeedResult has the measurements of a seed.
type SeedResult struct {
	Name   string        `json:"name"`
	Title  string        `json:"title"`
	About  string        `json:"about"`
	Took   time.Duration `json:"took"`
	Tables []TableResult `json:"tables"`
}

// TableResult has the measurements of a table.
type TableResult struct {
	Name    string            `json:"name"`
	Title   string            `json:"title"`
	About   string            `json:"about"`
	Columns []Column          `json:"columns"`
	Why     map[string]string `json:"why,omitempty"`
	Rows    []RowResult       `json:"rows"`
}

// RowResult has the measurements of a row, or the reason why there are none.
type RowResult struct {
	Name      string  `json:"name"`
	Group     string  `json:"group,omitempty"`
	Ours      bool    `json:"ours,omitempty"`
	Limit     bool    `json:"limit,omitempty"`
	Version   string  `json:"version,omitempty"`
	Settings  string  `json:"settings,omitempty"`
	Published string  `json:"published,omitempty"`
	Failure   string  `json:"failure,omitempty"` // why it was not measured, or not to the end
	Rounds    []Round `json:"rounds,omitempty"`

	// WarmedUp is how long the row worked before it was measured; NotFlat says that its rate still grew then.
	WarmedUp  time.Duration `json:"warmed_up,omitempty"`
	NotFlat   bool          `json:"not_flat,omitempty"`
	Quantiles []Quantile    `json:"quantiles,omitempty"` // of the latencies of all rounds together
}

// Round is one measurement of a row.
type Round struct {
	// Number tells which rows were measured one soon after the other: those with a round of the same number.
	Number int `json:"number"`
	// Figures by key. A table may have its own; those of the lab are
	//
	//   - rate: operations a second
	//   - mean, min, p50, p90, p99, p999, max: latencies, nanoseconds
	//   - cpu, cpu:ROLE: CPU time of all the row's processes, or of those in a role, for each operation, nanoseconds
	//   - cores:ROLE: CPU time of a role in percent of one core
	//   - memory, memory:ROLE: the greatest resident memory of all processes, or of those in a role, bytes
	//
	// What is not known is not there.
	Figures map[string]float64 `json:"figures"`
	// Foreign is the share of the machine that others took meanwhile: other processes and the host, percent.
	Foreign float64 `json:"foreign"`
}

// Quantile is the latency that a share of the operations did not exceed.
type Quantile struct {
	Share   float64       `json:"share"` // 0 to 1
	Latency time.Duration `json:"latency"`
}

// Spread of a figure over the rounds; ok is false where no round has it.
func (r RowResult) Spread(key string) (spread table.Spread, ok bool) {
	var values []float64
	for _, round := range r.Rounds {
		if v, there := round.Figures[key]; there {
			values = append(values, v)
		}
	}
	return table.SpreadOf(values), len(values) > 0
}

// Foreign is the median of the rounds' foreign load, percent.
func (r RowResult) Foreign() float64 {
	var values []float64
	for _, round := range r.Rounds {
		values = append(values, round.Foreign)
	}
	return table.SpreadOf(values).Median
}

// Save writes results to a file, whole or not at all.
func (r *Results) Save(file string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".part-")
	if err != nil {
		return fmt.Errorf("the results cannot be saved: %w", err)
	}
	_, err = part.Write(append(data, '\n'))
	err = errors.Join(err, part.Chmod(0o644), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		os.Remove(part.Name())
		return fmt.Errorf("the results cannot be saved: %w", err)
	}
	return nil
}

// Load reads results from files of one machine and makes one of them; a seed of a later file takes the place of the same of
// an earlier one.
func Load(files ...string) (*Results, error) {
	var all *Results
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not there: go run -C lab . run makes it", file)
		}
		if err != nil {
			return nil, err
		}
		var r Results
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s has no results of the lab: %w", file, err)
		}
		r.number()
		if all == nil {
			all = &r
			continue
		}
		if all.Machine.Processor != r.Machine.Processor || all.Machine.Cores != r.Machine.Cores {
			return nil, fmt.Errorf("%s is of another machine (%s) than %s (%s): reports are of one", file, r.Machine, files[0], all.Machine)
		}
		all.merge(r)
	}
	if all == nil {
		return nil, errors.New("no file of results is given")
	}
	return all, nil
}

// number numbers the rounds of results that were made before rounds had numbers, when every row had the same rounds.
func (r *Results) number() {
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			for _, row := range t.Rows {
				for i := range row.Rounds {
					if row.Rounds[i].Number == 0 {
						row.Rounds[i].Number = i + 1
					}
				}
			}
		}
	}
}

func (r *Results) merge(later Results) {
	r.Took += later.Took
	if later.Begun.Before(r.Begun) {
		r.Begun = later.Begun
	}
	r.Cut = r.Cut || later.Cut
	r.Quick = r.Quick || later.Quick
	r.Rounds = min(r.Rounds, later.Rounds)
	for _, seed := range later.Seeds {
		found := false
		for i := range r.Seeds {
			if r.Seeds[i].Name == seed.Name {
				r.Seeds[i], found = seed, true
			}
		}
		if !found {
			r.Seeds = append(r.Seeds, seed)
		}
	}
}
