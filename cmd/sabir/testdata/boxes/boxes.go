// Written by sabir import dubbo; it is yours to change.

// Package boxes has the types and contracts of com.stock.api.StockService of Dubbo.
//
// Note: com.stock.api.StockService was read from the definition in a registry, which says nothing of exceptions, of classes that others extend and of the arguments of generic classes.
//
// Note: in arrays, lists and maps, a null number, boolean or time is the zero value, and goes back as that: put a * before the type where there are nulls.
//
// Note: the constants of com.stock.api.Box$Place are texts by its toString, which need not be their names.
package boxes

import (
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/codec/hessian"
)

// StockServiceFindInput has the arguments of Box find(String, int).
type StockServiceFindInput struct {
	Arg1 string `json:"arg1" dubbo:"1"`
	Arg2 int32  `json:"arg2" dubbo:"2"`
}

// StockServiceMoveInput has the arguments of Box.Place move(Box, Box.Place).
type StockServiceMoveInput struct {
	Arg1 *Box     `json:"arg1" dubbo:"1"`
	Arg2 BoxPlace `json:"arg2" dubbo:"2"`
}

// StockService is the table of com.stock.api.StockService, which is the service boxes here, for Serve, References and Discover of dubbo.Config.
func StockService() dubbo.Interface {
	return dubbo.Interface{
		Name: "com.stock.api.StockService", Service: "boxes", Version: "2.0.0", Group: "eu",
		Methods: []dubbo.Method{
			{Name: "clear", Parameters: []string{}},
			{Name: "find", Parameters: []string{"java.lang.String", "int"}},
			{Name: "measure", Parameters: []string{"com.stock.api.Box$Size"}},
			{Name: "move", Parameters: []string{"com.stock.api.Box", "com.stock.api.Box$Place"}},
			{Name: "search", Parameters: []string{"java.util.Map"}},
		},
	}
}

// StockServiceClear calls void clear() of com.stock.api.StockService.
var StockServiceClear = sabir.NewAction[sabir.Empty, sabir.Empty]("boxes.clear")

// StockServiceFind calls Box find(String, int) of com.stock.api.StockService.
var StockServiceFind = sabir.NewAction[StockServiceFindInput, *Box]("boxes.find")

// StockServiceMeasure calls Box.Size measure(Box.Size) of com.stock.api.StockService.
var StockServiceMeasure = sabir.NewAction[BoxSize, *BoxSize]("boxes.measure")

// StockServiceMove calls Box.Place move(Box, Box.Place) of com.stock.api.StockService.
var StockServiceMove = sabir.NewAction[StockServiceMoveInput, BoxPlace]("boxes.move")

// StockServiceSearch calls List<Box> search(Map<String, Integer>) of com.stock.api.StockService.
var StockServiceSearch = sabir.NewAction[map[string]int32, []*Box]("boxes.search")

// Box is com.stock.api.Box.
type Box struct {
	Code    string          `json:"code"`
	Left    *int32          `json:"left"`
	Parts   []*Box          `json:"parts"`
	Picture []byte          `json:"picture"`
	Place   BoxPlace        `json:"place"`
	Price   hessian.Decimal `json:"price"`
	Since   *time.Time      `json:"since"`
	Size    *BoxSize        `json:"size"`
}

// BoxSize is com.stock.api.Box$Size.
type BoxSize struct {
	Height *float32 `json:"height"`
	Width  float64  `json:"width"`
}

// BoxPlace is com.stock.api.Box$Place.
type BoxPlace string

// The constants of com.stock.api.Box$Place.
const (
	BoxPlaceShelf BoxPlace = "SHELF"
	BoxPlaceFloor BoxPlace = "FLOOR"
)

func init() {
	hessian.Register[Box]("com.stock.api.Box")
	hessian.Register[BoxSize]("com.stock.api.Box$Size")
	hessian.Register[BoxPlace]("com.stock.api.Box$Place")
}
