package lab

// The figures of the HorseQC paper.
var horseQC = []Figure{
	{Name: "horseqc-17", Paper: "HorseQC, Figure 17", Title: "selection and projection by selectivity", Devices: onGPUs, run: selectivities},
	{Name: "horseqc-18", Paper: "HorseQC, Figure 18", Title: "grouped aggregation by number of groups", Devices: onGPUs, run: groupCounts},
	{Name: "horseqc-19", Paper: "HorseQC, Figure 19", Title: "Star Schema Benchmark and its bounds", Devices: onGPUs, run: ssbMoved},
	{Name: "horseqc-20", Paper: "HorseQC, Figure 20", Title: "TPC-H and its bounds", Devices: onGPUs, run: tpchMoved},
	{Name: "horseqc-21", Paper: "HorseQC, Figure 21", Title: "a star join that streams over the bus", Devices: onGPUs, run: streamed},
	{Name: "horseqc-27", Paper: "HorseQC, Figure 27", Title: "a sum by selectivity", Devices: onGPUs, run: singleSums},
	{Name: "horseqc-22", Paper: "HorseQC, Figure 22", Title: "TPC-H end to end, against the others' ways", Devices: onGPUs, run: endToEnd},
}
