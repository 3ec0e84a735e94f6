/* Drivers that do one thing when they are loaded, and are none: which is named by a macro. */
#include <stdio.h>
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
#else
#error "say which"
#endif
}
