// Functions whose first instructions differ: what a probe's site costs is decided by them. Compiled for several processors and protections.
int leaf(int x) { return x + 1; }
int constant(void) { return 7; }
void nothing(void) {}
int outer(int);
int framed(int x) { return outer(x) + outer(x + 1); }
int tail(int x) { return outer(x); }
static int counter;
int *address(void) { return &counter; }
int branch(int x) { if (x) return outer(1); return 2; }
long many(long a, long b, long c, long d, long e, long f) { return outer(a) + outer(b) * outer(c) + outer(d) - outer(e) * outer(f); }
double floating(double x) { return x * 2.5; }
int compare(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a - *b; }
struct list { struct list *volatile next; };
struct list *last(struct list *p) { while (p) p = p->next; return p; }
void drain(struct list *p) { do { outer(1); p = p->next; } while (p); }
__attribute__((patchable_function_entry(5))) int patched(int x) { return outer(x) + 1; }
int atomic(int *x) { return __atomic_fetch_add(x, 1, __ATOMIC_SEQ_CST); }
_Noreturn void trap(void) { __builtin_trap(); }
int large(int x) { volatile char room[4096]; room[x] = 1; return outer(room[x]); }
int outer(int x) { return counter += x; }
