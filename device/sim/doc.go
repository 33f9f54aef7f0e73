// Package sim simulates an accelerator, so that a program that uses a device
// can be tested where there is none, and on paths that hardware seldom takes.
//
//   - Memory has addresses of its own. The CPU cannot reach it: bytes move by
//     Copy alone, as on the real thing.
//   - Capacity is exact, so running out of memory can be repeated.
//   - Faults strike at the n-th call: see [Device.FailAlloc] and [Device.Lose].
//   - Streams can work late, so that a missing wait shows as wrong bytes: see
//     [Device.Late].
//   - Work takes time by a simulated clock: see [Device.Costs].
//   - [Device.Stats] counts what happened.
//
// Importing the package registers its scheme. [device.Open] then takes
//
//	sim                  a device of 1 GiB
//	sim:SIZE             of that capacity
//	sim:SIZE:late=SEED   with streams that work late; also sim:late=SEED
//
// and any of them with :pinned behind it, for page-locked host memory.
package sim
