package main

import (
	"github.com/sabir-go/sabir/internal/native"

	"github.com/sabir-go/sabir/lab/codecs/shape"
)

func nativeCodecs() []codec {
	return []codec{
		{name: "Sabir", entries: []entry{
			nativeEntry(shape.Text), nativeEntry(shape.NewPID()), nativeEntry(shape.NewProcessID()), nativeEntry(shape.NewSimple()),
			nativeEntry(shape.NewComplex()), nativeEntry(shape.NewNested()), nativeEntry(shape.NewItems()), nativeEntry(shape.NewGroups()),
		}},
		{name: "Sabir, aliasing", entries: []entry{
			nativeAliasEntry(shape.Text), nativeAliasEntry(shape.NewPID()), nativeAliasEntry(shape.NewProcessID()), nativeAliasEntry(shape.NewSimple()),
			nativeAliasEntry(shape.NewComplex()), nativeAliasEntry(shape.NewNested()), nativeAliasEntry(shape.NewItems()), nativeAliasEntry(shape.NewGroups()),
		}},
		{name: "Sabir, self-describing", entries: []entry{
			nativeHashEntry(shape.Text), nativeHashEntry(shape.NewPID()), nativeHashEntry(shape.NewProcessID()), nativeHashEntry(shape.NewSimple()),
			nativeHashEntry(shape.NewComplex()), nativeHashEntry(shape.NewNested()), nativeHashEntry(shape.NewItems()), nativeHashEntry(shape.NewGroups()),
		}},
	}
}

func nativeEntry[T any](v T) entry {
	typ := native.For[T]()
	return entry{
		encode: func(dst []byte) ([]byte, error) { return typ.Append(dst, &v) },
		decode: func(data []byte) error {
			var back T
			return typ.Decode(data, &back)
		},
		verify: func(data []byte) error {
			var back T
			if err := typ.Decode(data, &back); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}

func nativeAliasEntry[T any](v T) entry {
	typ := native.For[T]()
	e := nativeEntry(v)
	e.decode = func(data []byte) error {
		var back T
		return typ.DecodeAlias(data, &back)
	}
	e.verify = func(data []byte) error {
		var back T
		if err := typ.DecodeAlias(data, &back); err != nil {
			return err
		}
		return same(v, back)
	}
	return e
}

func nativeHashEntry[T any](v T) entry {
	return entry{
		encode: func(dst []byte) ([]byte, error) { return native.Append(dst, &v) },
		decode: func(data []byte) error {
			var back T
			return native.Decode(data, &back)
		},
		verify: func(data []byte) error {
			var back T
			if err := native.Decode(data, &back); err != nil {
				return err
			}
			return same(v, back)
		},
	}
}
