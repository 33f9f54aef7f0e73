package record

import "math/bits"

// maxDigits is the most that appendDecimal appends.
const maxDigits = 20

// pairs are the digits of 0 to 99. With 256 of them a byte needs no bounds check.
var pairs = func() (p [256][2]byte) {
	for i := range 100 {
		p[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return p
}()

// powers[i] is 10 to the i, but powers[0] is 0, as 0 has a digit, too.
var powers = func() (p [maxDigits]uint64) {
	n := uint64(1)
	for i := 1; i < maxDigits; i++ {
		n *= 10
		p[i] = n
	}
	return p
}()

// appendDecimal appends n to rows, which has room for it. It writes where the digits are to
// stand; strconv copies them there, and a row took twice as long.
func appendDecimal(rows []byte, n uint64) []byte {
	digits := bits.Len64(n) * 1233 >> 12 // by log 2 of 10; one too few, or right
	if n >= powers[digits] {
		digits++
	}
	at := len(rows) + digits
	rows = rows[:at]
	for n >= 100 {
		q := n / 100
		at -= 2
		*(*[2]byte)(rows[at:]) = pairs[uint8(n-100*q)]
		n = q
	}
	if n >= 10 {
		*(*[2]byte)(rows[at-2:]) = pairs[uint8(n)]
		return rows
	}
	rows[at-1] = '0' + byte(n)
	return rows
}
