# The same as x86_64.s, where it is explained.
	.set DATA, 0x10000000
	.set GO, DATA + 0x80
	.set TENSORS, DATA + 0x1000
	.set TENSOR_BYTES, 336
	.set TENSORS_END, TENSORS + 184 * TENSOR_BYTES
	.set TICKS, DATA + 0x20000
	.set WALK, DATA + 0x100000
	.set WALK_END, WALK + 0x20000000
	.set VECTOR, 16 << 10
	.set SMALL, 512 << 10
	.set LARGE, 3 << 20
	.set ROUNDS, 120
	.set REPEAT, 20

	.macro address register, value
	movz \register, #(\value) & 0xffff
	movk \register, #(\value) >> 16, lsl #16
	.endm

	.globl _start, hit_none, hit_nop, hit_emulated, hit_stepped, hit_return, hit_printed
_start:
	mov x0, #0
	address x1, GO
	mov x2, #1
	mov x8, #63
	svc #0
	cmp x0, #1
	b.ne exit
	address x0, DATA
	address x1, WALK_END
1:	strb wzr, [x0]
	add x0, x0, #4096
	cmp x0, x1
	b.lo 1b
	address x19, TICKS
	mov x20, #ROUNDS
	address x21, WALK
	address x22, TENSORS
	bl clocks
	.macro hit function
	mov x24, #REPEAT
3:	bl before
	bl \function
	bl after
	subs x24, x24, #1
	b.ne 3b
	.endm
2:	hit hit_none
	hit hit_nop
	hit hit_emulated
	hit hit_stepped
	hit hit_return
	hit hit_printed
	subs x20, x20, #1
	b.ne 2b
	bl clocks
	mov x0, #1
	address x1, TICKS
	sub x2, x19, x1
	mov x8, #64
	svc #0
	mov x0, #0
exit:	mov x8, #93
	svc #0

before:	isb
	mrs x23, cntvct_el0
	isb
	adr x9, layer - 4
	ldr w9, [x9, x24, lsl #2]
1:	ldr x10, [x21], #64
	subs x9, x9, #1
	b.ne 1b
	address x10, WALK_END - LARGE
	cmp x21, x10
	b.ls 2f
	address x21, WALK
2:	add x22, x22, #TENSOR_BYTES
	address x10, TENSORS_END
	cmp x22, x10
	b.lo 3f
	address x22, TENSORS
3:	address x0, DATA
	mov x1, x22
	ret

after:	isb
	mrs x10, cntvct_el0
	isb
	sub x10, x10, x23
	str x10, [x19], #8
	ret

clocks:	isb
	mrs x10, cntvct_el0
	str x10, [x19]
	mov x8, #113
	mov x0, #1
	add x1, x19, #8
	svc #0
	ldp x10, x11, [x19, #8]
	address x12, 1000000000
	madd x10, x10, x12, x11
	str x10, [x19, #8]
	add x19, x19, #16
	ret

	.balign 16
hit_none:
	nop
	ret
	.balign 16
hit_nop:
	nop
	ret
	.balign 16
hit_emulated:
	b 1f
1:	ret
	.balign 16
hit_stepped:
	hint #34
	nop
	ret
	.balign 16
hit_return:
	b 1f
1:	ret
	.balign 16
hit_printed:
	b 1f
1:	ret
	.balign 16
	.balign 4
layer:	.word LARGE / 64, VECTOR / 64, LARGE / 64, LARGE / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64
	.word SMALL / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64
	.word SMALL / 64, SMALL / 64, LARGE / 64, VECTOR / 64, VECTOR / 64
