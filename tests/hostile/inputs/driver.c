/* Drivers that do one thing when they are loaded, and are none: which is named by a macro. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((constructor)) when_loaded(void) {
#if defined TRAP
    __builtin_trap();
#elif defined EXITS
    _exit(0);
#elif defined PRINTS
    for (int line = 0; line < 2000000; line++)
        puts("{\"opened\":garbage} xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    fflush(stdout);
#elif defined SLEEPS
    for (;;)
        sleep(1000);
#elif defined CROWDED
    /* Alone it is harmless. */
    const char *files = getenv("VK_DRIVER_FILES");
    if (files != NULL && strchr(files, ':') != NULL)
        __builtin_trap();
#else
#error "say which"
#endif
}
