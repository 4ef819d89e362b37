package main

import (
	"testing"

	"github.com/sabir-go/sabir/lab/rpc/work/worktest"
)

func TestMain(m *testing.M) { worktest.Main(m) }

func TestEveryContenderGivesTheRightAnswer(t *testing.T) { worktest.All(t, "rpc", contenders()) }
