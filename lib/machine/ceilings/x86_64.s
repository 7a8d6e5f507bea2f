# What a processor can read and multiply at most, in one thread: the ceilings that operators are compared with. Several of these at once are several threads.
# as -o ceilings.o x86_64.s && ld -Ttext=0x400000 ceilings.o; a test does so and compares the bytes with those in program.ts.
# Reads three numbers of 64 bits from standard input: which of the kinds below, how many bytes of memory (a multiple of 4096), how many rounds. Makes that
# memory its own, writes a byte, waits for one, works, and writes two numbers: nanoseconds before and after.
	.intel_syntax noprefix
	.set DATA, 0x10000000
	.set KIND, DATA
	.set BYTES, DATA + 8
	.set ROUNDS, DATA + 16
	.set TIMES, DATA + 64
	.set GO, DATA + 128
	# The last of the kinds.
	.set LAST, 8
	.globl _start
_start:
	# read(0, KIND, 24)
	xor eax, eax
	xor edi, edi
	mov esi, KIND
	mov edx, 24
	syscall
	cmp eax, 24
	jne failed
	# mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
	mov eax, 9
	xor edi, edi
	mov rsi, [BYTES]
	mov edx, 3
	mov r10d, 0x22
	mov r8, -1
	xor r9d, r9d
	syscall
	cmp rax, -4096
	ja failed
	mov r14, rax
	mov r15, rax
	add r15, [BYTES]
	# Pages of zeros that were only read are one and the same page: written, each is its own.
1:	mov byte ptr [rax], 1
	add rax, 4096
	cmp rax, r15
	jb 1b
	# write(1, KIND, 1), read(0, GO, 1)
	mov eax, 1
	mov edi, eax
	mov esi, KIND
	mov edx, eax
	syscall
	xor eax, eax
	xor edi, edi
	mov esi, GO
	mov edx, 1
	syscall
	cmp eax, 1
	jne failed
	mov r12, [ROUNDS]
	mov rax, [KIND]
	cmp rax, LAST
	ja failed
	mov ebx, TIMES
	call clock
	mov rax, [KIND]
	lea rcx, kinds[rip]
	movsxd rax, dword ptr [rcx + rax * 4]
	add rax, rcx
	call rax
	mov ebx, TIMES + 8
	call clock
	# write(1, TIMES, 16)
	mov eax, 1
	mov edi, eax
	mov esi, TIMES
	mov edx, 16
	syscall
	xor edi, edi
	jmp exit
failed:	mov edi, 1
exit:	mov eax, 60
	syscall

# clock_gettime(CLOCK_MONOTONIC, GO), as nanoseconds to where rbx points.
clock:	mov eax, 228
	mov edi, 1
	mov esi, GO
	syscall
	imul rax, qword ptr [GO], 1000000000
	add rax, [GO + 8]
	mov [rbx], rax
	ret

	.balign 4
kinds:	.long read_16 - kinds, read_32 - kinds, sse - kinds, fma - kinds, fma_512 - kinds, bytes_256 - kinds, bytes_512 - kinds, vnni_256 - kinds, bf16 - kinds

	# A round of reading is all of the memory, once.
	.macro read register, width
	.balign 64
1:	mov rax, r14
2:
	.set at, 0
	.rept 256 / \width
	\register, [rax + at]
	.set at, at + \width
	.endr
	add rax, 256
	cmp rax, r15
	jb 2b
	dec r12
	jnz 1b
	ret
	.endm
read_16: read "movdqu xmm0", 16
read_32: read "vmovdqu ymm0", 32

	# A round of multiplying is twelve times the widest operation of its kind: enough that none waits for another.
	.macro chains operation
	.balign 64
1:
	.irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\operation \n
	.endr
	dec r12
	jnz 1b
	ret
	.endm

	# 4 products and 4 sums.
	.macro of_sse n
	movaps xmm0, xmm1
	mulps xmm0, xmm2
	addps xmm\n, xmm0
	.endm
	# 8 of each.
	.macro of_fma n
	vfmadd231ps ymm\n, ymm0, ymm1
	.endm
	# 16 of each.
	.macro of_fma_512 n
	vfmadd231ps zmm\n, zmm0, zmm1
	.endm
	# Bytes, as quantised weights are multiplied: 32 products and as many sums, in three instructions.
	.macro of_bytes_256 n
	vpmaddubsw ymm0, ymm1, ymm2
	vpmaddwd ymm0, ymm0, ymm3
	vpaddd ymm\n, ymm\n, ymm0
	.endm
	# 64 of each, in one.
	.macro of_bytes_512 n
	vpdpbusd zmm\n, zmm0, zmm1
	.endm
	# 32 of each, on processors that have it without AVX-512.
	.macro of_vnni_256 n
	{vex} vpdpbusd ymm\n, ymm0, ymm1
	.endm
	# Pairs of numbers of 16 bits (bf16): 32 products and as many sums.
	.macro of_bf16 n
	vdpbf16ps zmm\n, zmm0, zmm1
	.endm
sse:	xorps xmm1, xmm1
	xorps xmm2, xmm2
	chains of_sse
fma:	vxorps xmm0, xmm0, xmm0
	vxorps xmm1, xmm1, xmm1
	chains of_fma
fma_512: vxorps xmm0, xmm0, xmm0
	vxorps xmm1, xmm1, xmm1
	chains of_fma_512
bytes_256: vxorps xmm1, xmm1, xmm1
	vxorps xmm2, xmm2, xmm2
	vxorps xmm3, xmm3, xmm3
	chains of_bytes_256
bytes_512: vxorps xmm0, xmm0, xmm0
	vxorps xmm1, xmm1, xmm1
	chains of_bytes_512
vnni_256: vxorps xmm0, xmm0, xmm0
	vxorps xmm1, xmm1, xmm1
	chains of_vnni_256
bf16:	vxorps xmm0, xmm0, xmm0
	vxorps xmm1, xmm1, xmm1
	chains of_bf16
