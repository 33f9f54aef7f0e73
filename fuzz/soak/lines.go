package soak

// Lines are what runs without arguments: each strategy, on the Go heap and off it, and each option
// that changes which way a buffer takes. They have room for what the workers keep, most of the time.
var Lines = []string{
	"device=heap",
	"device=heap,strategy=slab,max_bytes=48MiB",
	"device=heap,strategy=bestfit,align=64",
	"device=heap,strategy=exact",
	"device=heap,cache_bytes=0,max_held=1MiB",
	"device=heap,zero=true,idle=1ms,trim_after=1ms",
	"device=mmap",
	"device=mmap,max_bytes=3MiB",
	"device=mmap,max_bytes=1MiB,overflow=make",
	"device=mmap,strategy=sizeclass,align=4096",
	"device=mmap,strategy=bestfit,align=64,cache_bytes=64KiB",
	"device=mmap,strategy=bitlog,max_bytes=64MiB",
	"device=mmap,check=true",
	"device=mmap,guard=64,on_forget=report",
	"device=mmap,idle=1ms,trim_after=1ms,profile_rate=4KiB",
	"device=mmap:fixed,strategy=slab",
	"device=sim:256MiB:pinned",
}
