/** What llama.cpp is told. Its one flag has replaced the others, which it refuses since b10884; what is older knows those alone. */
export const AT_ONCE = "llama.cpp's --load-mode none or mmap+mlock (--no-mmap or --mlock in older ones)";
export const MAPPED = "llama.cpp's --load-mode mmap, in older ones no --no-mmap";
export const LOCKED = "llama.cpp's --load-mode mmap+mlock, in older ones --mlock";
