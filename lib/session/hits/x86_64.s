# What a probe's hit costs, measured from inside: functions that begin as those of an engine do, each called after what an operator reads.
# as -o hits.o x86_64.s && ld -Ttext=0x400000 hits.o; a test does so and compares the bytes with those in programs.ts.
# Waits for a byte on standard input, so that probes can be attached, and writes to standard output: time-stamp counter and nanoseconds before
# and after, and between these for each round the ticks of each operator with its call: of one function several in a row, then of the next.
	.intel_syntax noprefix
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

	.globl _start, hit_none, hit_nop, hit_emulated, hit_stepped, hit_return, hit_printed
_start:
	# read(0, GO, 1)
	xor eax, eax
	xor edi, edi
	mov esi, GO
	mov edx, 1
	syscall
	mov edi, 1
	cmp eax, edi
	jne exit
	# Pages of zeros that were only read are one and the same page: written, each is its own. Not before it is this process's turn.
	mov edi, DATA
1:	mov byte ptr [rdi], 0
	add edi, 4096
	cmp edi, WALK_END
	jb 1b
	mov ebp, TICKS
	mov r12d, ROUNDS
	mov r14d, WALK
	mov r15d, TENSORS
	call clocks
	# An engine comes to its place again after one operator. In turns with the others there would be six walks between, and what only a stepped hit needs
	# (two exceptions, for which a virtual machine is left) is out of a cache of 2 MiB by then: 27 µs, where an engine with 113 MB of weights paid 18.
	.macro hit function
	mov r13d, REPEAT
3:	call before
	call \function
	call after
	dec r13d
	jnz 3b
	.endm
2:	hit hit_none
	hit hit_nop
	hit hit_emulated
	hit hit_stepped
	hit hit_return
	hit hit_printed
	dec r12d
	jnz 2b
	call clocks
	# write(1, TICKS, …)
	mov eax, 1
	mov edi, eax
	mov esi, TICKS
	mov edx, ebp
	sub edx, esi
	syscall
	xor edi, edi
exit:	mov eax, 60
	syscall

# What the operator before did to the caches. How cold the kernel's path is decides what a hit costs: on a Xeon with 2 MiB of second-level cache a stepped
# one costs 16 µs behind a vector, 17 behind 512 KiB and 40 behind 3 MiB, and `push` 0.6, 1 and 4 to 5, as behind the operators of an engine. In a layer
# of a transformer seven operators stream weights and the others read a vector. A model does not fit into the last-level cache, so neither may what is
# walked through here: 60 MiB left it to the neighbours on a shared machine whether a hit behind weights cost 1.4 µs or 6.
# It is timed with the call: what a hit leaves of the caches is paid by who reads behind it, 0.1 to 0.4 µs of a hit that itself takes 0.7 to 1.2.
# Then the two arguments of ggml_cpu_extra_compute_forward.
before:	call ticks
	mov rbx, rax
	mov ecx, [layer + 4 * r13 - 4]
1:	add rax, [r14]
	add r14, 64
	dec ecx
	jnz 1b
	cmp r14, WALK_END - LARGE
	jbe 2f
	mov r14d, WALK
2:	add r15, TENSOR_BYTES
	cmp r15, TENSORS_END
	jb 3f
	mov r15d, TENSORS
3:	mov edi, DATA
	mov rsi, r15
	ret

after:	call ticks
	sub rax, rbx
	mov [rbp], rax
	add rbp, 8
	ret

ticks:	lfence
	rdtsc
	lfence
	shl rdx, 32
	or rax, rdx
	ret

clocks:	call ticks
	mov [rbp], rax
	# clock_gettime(CLOCK_MONOTONIC, TICKS + …)
	mov eax, 228
	mov edi, 1
	lea rsi, [rbp + 8]
	syscall
	imul rax, [rbp + 8], 1000000000
	add rax, [rbp + 16]
	mov [rbp + 8], rax
	add rbp, 16
	ret

	# A 5-byte nop that crossed a page would not be optimised.
	.balign 16
hit_none:
	push rbp
	pop rbp
	ret
	.balign 16
hit_nop:
	.byte 0x0f, 0x1f, 0x44, 0, 0
	ret
	.balign 16
hit_emulated:
	push rbp
	pop rbp
	ret
	.balign 16
hit_stepped:
	endbr64
	ret
	.balign 16
hit_return:
	push rbp
	pop rbp
	ret
	.balign 16
hit_printed:
	push rbp
	pop rbp
	ret
	.balign 16
	# Cache lines that each operator of a layer reads, the last one first: the feed-forward part with three products, and before it attention with four.
	.balign 4
layer:	.long LARGE / 64, VECTOR / 64, LARGE / 64, LARGE / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64
	.long SMALL / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64, VECTOR / 64
	.long SMALL / 64, SMALL / 64, LARGE / 64, VECTOR / 64, VECTOR / 64
