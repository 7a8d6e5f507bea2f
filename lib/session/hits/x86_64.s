# What a probe's hit costs, measured from inside: functions that begin as those of an engine do, called with the caches evicted before each call.
# as -o hits.o x86_64.s && ld -Ttext=0x400000 hits.o; a test does so and compares the bytes with those in programs.ts.
# Waits for a byte on standard input, so that probes can be attached, and writes to standard output: time-stamp counter and nanoseconds before
# and after, and between these for each round the ticks of one call of each function.
	.intel_syntax noprefix
	.set DATA, 0x10000000
	.set GO, DATA + 0x80
	.set TENSORS, DATA + 0x1000
	.set TENSOR_BYTES, 336
	.set TENSORS_END, TENSORS + 184 * TENSOR_BYTES
	.set TICKS, DATA + 0x20000
	.set WALK, DATA + 0x100000
	.set LINES, 8192
	.set WALK_END, WALK + 120 * 64 * LINES
	.set ROUNDS, 1000

	.globl _start, hit_none, hit_nop, hit_emulated, hit_stepped, hit_return, hit_printed
_start:
	# Pages of zeros that were only read are one and the same page: written, each is its own.
	mov edi, DATA
1:	mov byte ptr [rdi], 0
	add edi, 4096
	cmp edi, WALK_END
	jb 1b
	# read(0, GO, 1)
	xor eax, eax
	xor edi, edi
	mov esi, GO
	mov edx, 1
	syscall
	mov edi, 1
	cmp eax, edi
	jne exit
	mov ebp, TICKS
	mov r12d, ROUNDS
	mov r14d, WALK
	mov r15d, TENSORS
	call clocks
	.macro hit function
	call before
	call \function
	call after
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

# What operators do to the caches, 512 KiB: a few of them stream megabytes of weights, most of them a vector. How cold the kernel's path is decides what
# a hit costs, and with caches of 1 MiB that depends on where pages happen to lie, from run to run: behind 384 KiB `push` costs 0.9 µs in most and 1.3 in
# others, behind 1 MiB 1.0 to 1.7, and stepped 10.1 to 12.3. In four engines with 113 MB of weights it was 1.2 to 1.4, and stepped 9.8 to 11.6.
# Then the two arguments of ggml_cpu_extra_compute_forward, and the time.
before:	mov ecx, LINES
1:	add rax, [r14]
	add r14, 64
	dec ecx
	jnz 1b
	cmp r14, WALK_END
	jb 2f
	mov r14d, WALK
2:	add r15, TENSOR_BYTES
	cmp r15, TENSORS_END
	jb 3f
	mov r15d, TENSORS
3:	mov edi, DATA
	mov rsi, r15
	call ticks
	mov rbx, rax
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
