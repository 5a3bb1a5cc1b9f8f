// A program of its own for one launch: it reads a job from a file, runs it and writes the arrays back. Each array is an
// allocation of its own, so that an address sanitizer sees where it ends.
int main(int, char** argv) {
    FILE* file = fopen(argv[1], "r+b");
    long long head[10];
    if (!file || fread(head, 8, 10, file) != 10) return 2;
    long long params = head[0], regions = head[1];
    wb_host::Launch how = {};
    for (int k = 0; k < 3; ++k) how.grid[k] = (unsigned int)head[2 + k], how.block[k] = (unsigned int)head[5 + k];
    how.shared = head[8], how.seed = (unsigned long long)head[9];
    long long* sizes = new long long[regions];
    char** data = new char*[regions];
    void** p = new void*[params];
    for (long long k = 0; k < regions; ++k) {
        if (fread(&sizes[k], 8, 1, file) != 1) return 2;
        data[k] = new char[sizes[k]];
        if (fread(data[k], 1, sizes[k], file) != (size_t)sizes[k]) return 2;
    }
    for (long long k = 0; k < params; ++k) {
        long long size, region;
        if (fread(&size, 8, 1, file) != 1 || fread(&region, 8, 1, file) != 1) return 2;
        p[k] = ::operator new(size);
        if (fread(p[k], 1, size, file) != (size_t)size) return 2;
        if (region >= 0) memcpy(p[k], &data[region], 8);
    }
    if (WB_HOST_MAIN(p, &how)) {
        fprintf(stderr, "line %d: %s\n", wb_host::report.line, wb_host::report.text);
        return 3;
    }
    fseek(file, 0, SEEK_SET);
    for (long long k = 0; k < regions; ++k) fwrite(data[k], 1, sizes[k], file);
    return fclose(file) ? 2 : 0;
}
