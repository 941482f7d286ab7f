package phys

import "time"

// What things cost, for decisions between devices. These are measured figures, rounded, and meant to tell 1 from 10, not 1 from 2:
// lab/results/2026-11-15-h200.md has the times of both devices that they come from, per query of TPC-H and SSB at two sizes. Of TPC-H at
// scale factor 1 on 16 threads, most estimates are within a factor of two of those times on both devices.
const (
	// cpuScan is a thread's time in ns for a row of a scan with its filters: TPC-H q6 at scale factor 10 takes 5.7 ms for 60 million
	// rows on 16 threads.
	cpuScan = 1.5
	// cpuVisit is a thread's time in ns for a row that is looked up, grouped, put into a table or sorted: q3, q5 and q9 at scale factor 10
	// come to 8 to 20 ns, q1, whose few groups stay in the cache, to 6.
	cpuVisit = 15.0
	// cpuSort is a thread's time in ns for a row that is sorted, textSort how many times that a row with texts as keys takes more: sort_text of bench more takes
	// 312 ms for 6 million rows on 16 threads.
	cpuSort  = 100.0
	textSort = 7.0
	// cpuPipeline is what a pipeline costs at least: to compile it, and to wake threads.
	cpuPipeline = 100 * time.Microsecond

	// gpuVisit is the device's time in ns for a row that is looked up, grouped, put into a table or sorted: random accesses to 4 GB go at
	// 39 G per second, and a visit needs one to three.
	gpuVisit = 0.05
	// gpuSort is the device's time in ns for a row that is sorted: 18 million rows of sort_large take 3 ms, 1.8 million of sort_text 1.4.
	gpuSort = 0.15
	// gpuBack is how many bytes of tuples come to the host in a second and are ready there: 288 MB of sort_large take 9 ms, 14 MB of row numbers 2.2, 43 MB with
	// texts, whose addresses are looked up, 13.
	gpuBack = 8e9
	// gpuMade is a thread's time in ns for a value that Go makes where a pipeline is cut, with its way there and back: 3 million texts of text_concat took 145 ms
	// on 16 threads when Go made them.
	gpuMade = 750.0
	// muchBack and muchMade are from where on EXPLAIN tells of them.
	muchBack, muchMade = 1e6, 1e5
	// gpuPipeline is what a pipeline costs at least: to emit it, its launches, and waiting for each; queries of six pipelines at scale
	// factor 1 take 1.8 ms, of nine 3.
	gpuPipeline = 300 * time.Microsecond
	// gpuCompile is the driver's time for a pipeline's kernels that it does not have yet: 49 kernels of ten queries took 1 s.
	gpuCompile = 25 * time.Millisecond
	// onceSure is how many times as much as copying and compiling a query must gain to wait for them where it need not, and onceUnseen how many times where no query like it
	// was seen to run: all of that are guesses then, and group_case of bench more, which takes 25 ms, was believed to take 813 on the CPU.
	onceSure   = 3
	onceUnseen = 30
	// gpuUpload is how many bytes of columns come to the device in a second: blocks that one thread fills go at 5.8 GB/s, those that eight
	// fill at 28.7, without the work of bringing columns into the device's form.
	gpuUpload = 5e9
	// streamHolds is the part of the room that columns keep which stay there while a query's others stream.
	streamHolds = 4
	// gpuBandwidth is what kernels read in a second where the device does not say.
	gpuBandwidth = 1e12
)
