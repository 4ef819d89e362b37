package native_test

import (
	"fmt"

	"github.com/sabir-go/sabir/internal/native"
)

func ExampleFor() {
	type Point struct{ X, Y int }
	points := native.For[Point]()
	data, err := points.Append(nil, &Point{1, -2})
	if err != nil {
		fmt.Println(err)
		return
	}
	var p Point
	err = points.Decode(data, &p)
	fmt.Printf("%x %v %v\n", data, p, err)
	// Output: 0203 {1 -2} <nil>
}

func ExampleType_From() {
	type PointV1 struct{ X, Y int32 }
	type PointV2 struct {
		Label  string
		Height int64 `sabir:",alias=Y"`
		X      int64
	}
	data, err := native.For[PointV1]().Append(nil, &PointV1{1, -2})
	if err != nil {
		fmt.Println(err)
		return
	}
	points, err := native.For[PointV2]().From(native.For[PointV1]().Schema())
	if err != nil {
		fmt.Println(err)
		return
	}
	var p PointV2
	err = points.Decode(data, &p)
	fmt.Printf("%+v %v\n", p, err)
	// Output: {Label: Height:-2 X:1} <nil>
}
