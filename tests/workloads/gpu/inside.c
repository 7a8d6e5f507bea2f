/* As calls.c, whose calls are made by a library into which CUDA's runtime is linked. */
int engine(int argc, char **argv);

int main(int argc, char **argv) { return engine(argc, argv); }
