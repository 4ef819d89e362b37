package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Topics of the posts of BenchmarkPosts.
const (
	topicFlood uint8 = iota + 16 // counted
	topicCount                   // answered by a post with the count, which begins anew
	topicEcho                    // posted back
)

// answerPosts serves those topics. The count is the reader's own.
func answerPosts() func(*Link, uint8, []byte) {
	var count uint64
	return func(l *Link, topic uint8, data []byte) {
		switch topic {
		case topicFlood:
			count++
		case topicCount:
			l.TryPost(topicCount, binary.LittleEndian.AppendUint64(nil, count))
			count = 0
		case topicEcho:
			l.TryPost(topicEcho, data)
		}
	}
}

// BenchmarkPosts is posts from one process to another: a flood in one direction, until all of it has arrived, and posts there
// and back, one at a time for each caller.
func BenchmarkPosts(b *testing.B) {
	for _, size := range []int{128, 2 << 10, 16 << 10} {
		for _, posters := range []int{1, 2, 32} {
			b.Run(fmt.Sprintf("flood/%d/%d", size, posters), func(b *testing.B) { floodOfPosts(b, size, posters) })
		}
	}
	for _, callers := range []int{1, 100} {
		b.Run(fmt.Sprintf("echo/2048/%d", callers), func(b *testing.B) { echoOfPosts(b, 2<<10, callers) })
	}
}

func echoOfPosts(b *testing.B, size, callers int) {
	p := startProcess(b, "workers", false)
	back := make(chan struct{}, callers) // whose it is does not matter
	l := p.linkWith(b, func(*Link, uint8, []byte) { back <- struct{}{} })
	data := make([]byte, size)
	p.measure(b, callers, func() func() {
		return func() {
			if err := l.Post(context.Background(), topicEcho, data); err != nil {
				b.Error(err)
			}
			<-back
		}
	})
	stats := l.Stats()
	b.ReportMetric(float64(stats.FramesOut)/float64(stats.Writes), "posts/write")
}

func floodOfPosts(b *testing.B, size, posters int) {
	p := startProcess(b, "workers", false)
	counts := make(chan uint64, 1)
	l := p.linkWith(b, func(_ *Link, _ uint8, data []byte) { counts <- binary.LittleEndian.Uint64(data) })
	flood := func(posts int) {
		var all sync.WaitGroup
		for i := range posters {
			all.Go(func() {
				data := make([]byte, size)
				for range posts*(i+1)/posters - posts*i/posters {
					if err := l.Post(context.Background(), topicFlood, data); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if err := l.Post(context.Background(), topicCount, nil); err != nil {
			b.Fatal(err)
		}
		if got := <-counts; got != uint64(posts) {
			b.Fatalf("%d of %d posts arrived", got, posts)
		}
	}
	flood(1000)
	runtime.GC()
	b.SetBytes(int64(size))
	before := l.Stats()
	cpu, allocs := p.used(b)
	b.ResetTimer()
	flood(b.N)
	took := b.Elapsed()
	b.StopTimer()
	cpu2, allocs2 := p.used(b)
	after := l.Stats()
	b.ReportMetric(float64(b.N)/took.Seconds(), "posts/s")
	b.ReportMetric(float64(cpu2-cpu)/float64(time.Microsecond)/float64(b.N), "cpu-us/post")
	b.ReportMetric(float64(allocs2-allocs)/float64(b.N), "allocs/post")
	b.ReportMetric(float64(after.FramesOut-before.FramesOut)/float64(after.Writes-before.Writes), "posts/write")
}
