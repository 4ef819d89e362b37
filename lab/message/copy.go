package message

// CopyFrom copies every field, for the libraries that hand the handler a reply to fill: a protobuf struct as a whole must not
// be copied.
func (m *Proto) CopyFrom(in *Proto) {
	m.Field1 = in.Field1
	m.Field9 = in.Field9
	m.Field18 = in.Field18
	m.Field80 = in.Field80
	m.Field81 = in.Field81
	m.Field2 = in.Field2
	m.Field3 = in.Field3
	m.Field280 = in.Field280
	m.Field6 = in.Field6
	m.Field22 = in.Field22
	m.Field4 = in.Field4
	m.Field5 = in.Field5
	m.Field59 = in.Field59
	m.Field7 = in.Field7
	m.Field16 = in.Field16
	m.Field130 = in.Field130
	m.Field12 = in.Field12
	m.Field17 = in.Field17
	m.Field13 = in.Field13
	m.Field14 = in.Field14
	m.Field104 = in.Field104
	m.Field100 = in.Field100
	m.Field101 = in.Field101
	m.Field102 = in.Field102
	m.Field103 = in.Field103
	m.Field29 = in.Field29
	m.Field30 = in.Field30
	m.Field60 = in.Field60
	m.Field271 = in.Field271
	m.Field272 = in.Field272
	m.Field150 = in.Field150
	m.Field23 = in.Field23
	m.Field24 = in.Field24
	m.Field25 = in.Field25
	m.Field78 = in.Field78
	m.Field67 = in.Field67
	m.Field68 = in.Field68
	m.Field128 = in.Field128
	m.Field129 = in.Field129
	m.Field131 = in.Field131
}
